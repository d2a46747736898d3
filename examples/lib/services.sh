# SPDX-License-Identifier: Apache-2.0
# Bash functions that start the surroundings of an example: certificates, registry, web server, agents.
# Sourced. The caller sets $work (a temporary directory) and $bin (directory of the programs), and
# calls stop_all in its EXIT trap. Everything started is stopped by its own pid.

pids=()

note() { printf '%s\n' "$*" >&2; }
die() { note "error: $*"; exit 1; }

# start NAME COMMAND…: in the background, output to $work/NAME.log; sets $started_pid
start() {
  local name=$1
  shift
  "$@" >>"$work/$name.log" 2>&1 &
  started_pid=$!
  pids+=("$started_pid")
}

stop_all() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do
    local waited=0
    while kill -0 "$pid" 2>/dev/null && [ $waited -lt 100 ]; do sleep 0.05; waited=$((waited + 1)); done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  pids=()
}

free_port() {
  /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# wait_for SECONDS WHAT COMMAND…
wait_for() {
  local tries=$(($1 * 20)) what=$2
  shift 2
  while ! "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || die "$what did not come up; see the logs in $work"
    sleep 0.05
  done
}

port_open() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

make_ca() {
  mkdir -p "$work/tls"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=example CA" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign" \
    -keyout "$work/tls/ca.key" -out "$work/tls/ca.pem" 2>>"$work/openssl.log"
}

# make_cert NAME SAN[,SAN]: $work/tls/NAME.pem and .key
make_cert() {
  local base=$work/tls/$1
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
    -keyout "$base.key" -out "$base.csr" 2>>"$work/openssl.log"
  chmod 600 "$base.key"
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n' "$2" >"$base.ext"
  openssl x509 -req -in "$base.csr" -CA "$work/tls/ca.pem" -CAkey "$work/tls/ca.key" -days 30 \
    -set_serial "0x$(openssl rand -hex 8)" -extfile "$base.ext" -out "$base.pem" 2>>"$work/openssl.log"
}

# Options that name an identity
tls_of() { echo "--tls-ca $work/tls/ca.pem --tls-cert $work/tls/$1.pem --tls-key $work/tls/$1.key"; }

# start_registry STORAGE: Debian's docker-registry over TLS with a password where Python can hash one.
# Sets $registry (host:port), $registry_pid; access log in $work/registry.log
start_registry() {
  local port
  port=$(free_port)
  registry=127.0.0.1:$port
  [ -f "$work/tls/registry.pem" ] || make_cert registry IP:127.0.0.1,DNS:localhost
  mkdir -p "$1" "$work/registry-certs"
  cp "$work/tls/ca.pem" "$work/registry-certs/ca.crt"
  local hash
  hash=$(/usr/bin/python3 -W ignore -c \
    'import crypt; print(crypt.crypt("training", crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)))' 2>/dev/null || true)
  {
    printf 'version: 0.1\nlog: {level: warn, accesslog: {disabled: false}}\n'
    printf 'storage: {filesystem: {rootdirectory: %s}}\n' "$1"
    printf 'http:\n  addr: %s\n  tls: {certificate: %s, key: %s}\n' "$registry" \
      "$work/tls/registry.pem" "$work/tls/registry.key"
    if [ -n "$hash" ]; then
      printf 'auth: {htpasswd: {realm: example, path: %s}}\n' "$work/htpasswd"
    fi
  } >"$work/registry.yml"
  printf 'puller:%s\n' "$hash" >"$work/htpasswd"
  printf 'training\n' >"$work/password"
  chmod 600 "$work/password"
  {
    printf '{"registries": {"%s": {"ca_file": "%s"' "$registry" "$work/tls/ca.pem"
    [ -z "$hash" ] || printf ', "username": "puller", "password_file": "%s"' "$work/password"
    printf '}}}\n'
  } >"$work/registries.json"
  start registry docker-registry serve "$work/registry.yml"
  registry_pid=$started_pid
  wait_for 15 "the registry" port_open 127.0.0.1 "$port"
}

# push_image LAYOUT:TAG NAME:TAG
push_image() {
  skopeo copy --quiet --preserve-digests --dest-cert-dir "$work/registry-certs" --dest-creds puller:training \
    "oci:$1" "docker://$registry/$2" >>"$work/skopeo.log" 2>&1 || die "skopeo could not push; see $work/skopeo.log"
}

# start_storage ROOT RATE: nginx with JSON listings; sets $storage (URL). Access log $work/storage.access
start_storage() {
  local port
  port=$(free_port)
  storage=http://127.0.0.1:$port/
  mkdir -p "$work/nginx"
  cat >"$work/nginx.conf" <<CONF
daemon off;
master_process off;
pid $work/nginx/pid;
error_log stderr warn;
events { worker_connections 512; }
http {
  client_body_temp_path $work/nginx/body; proxy_temp_path $work/nginx/proxy;
  fastcgi_temp_path $work/nginx/fastcgi; uwsgi_temp_path $work/nginx/uwsgi; scgi_temp_path $work/nginx/scgi;
  log_format bytes '\$request_method \$status \$body_bytes_sent \$uri';
  access_log $work/storage.access bytes;
  keepalive_requests 1000000;
  server {
    listen 127.0.0.1:$port;
    root $1;
    autoindex on;
    autoindex_format json;
    limit_rate $2;
  }
}
CONF
  local nginx
  nginx=$(command -v nginx || echo /usr/sbin/nginx)
  start storage "$nginx" -e stderr -c "$work/nginx.conf"
  wait_for 15 "nginx" port_open 127.0.0.1 "$port"
}

# start_agent NUMBER [options]: nodeNN on 127.0.0.NN; sets agent_pid[NN], agent_port[NN], mirror_port[NN]
declare -A agent_pid agent_port mirror_port
start_agent() {
  local n=$1
  shift
  [ -f "$work/tls/node$n.pem" ] || make_cert "node$n" "DNS:node$n,IP:127.0.0.$n"
  touch "$work/node$n.kernel"
  rm -f "$work/node$n.ports"
  # shellcheck disable=SC2046
  start "node$n" "$bin/agent" --name "node$n" --data "$work/node$n" --listen "127.0.0.$n" \
    --port-file "$work/node$n.ports" $(tls_of "node$n") --kernel-log "$work/node$n.kernel" \
    --registry-config "$work/registries.json" --inventory "$work/cluster/node$n.json" \
    --mirror 127.0.0.1 --allow-launch "$@"
  agent_pid[$n]=$started_pid
}
await_agent() {
  local n=$1
  wait_for 15 "agent node$n" test -s "$work/node$n.ports"
  { read -r agent_port[$n]; read -r mirror_port[$n]; } <"$work/node$n.ports"
}
