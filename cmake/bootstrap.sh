# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/run and examples/run: installs the packages of packages.txt that are missing (as
# root), or says the command and exits with 3. Sets JAVA_HOME and LC_ALL. Also: bash cmake/bootstrap.sh

aist_packages_missing() {
  # Prints the missing packages, one a line. Of `a | b` the first that apt knows, if none is there.
  local list=$1 line name installed choice
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' 2>/dev/null)"
  while IFS= read -r line; do
    line=${line%%#*}
    choice=
    for name in ${line//|/ }; do
      case $installed in *" installed:$name "*) choice=; continue 2 ;; esac
      if [ -z "$choice" ] && { [[ $line != *"|"* ]] || apt-cache show "$name" >/dev/null 2>&1; }; then
        choice=$name
      fi
    done
    if [ -n "${line// /}" ]; then echo "${choice:-${line%% *}}"; fi
  done <"$list"
}

# Runs in a subshell: its trap must not replace the caller's.
aist_packages_install() (
  export DEBIAN_FRONTEND=noninteractive
  # The web server and the registry are for tests, which start their own: no service starts here.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
    trap 'rm -f $policy' EXIT
  fi
  apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -qq -y --no-install-recommends install "$@" >&2
)

aist_bootstrap() {
  local here list log
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  list=$here/packages.txt
  if ! command -v dpkg-query >/dev/null; then
    echo "bootstrap: no dpkg here; install what cmake/packages.txt lists by hand" >&2
  else
    local missing=()
    mapfile -t missing < <(aist_packages_missing "$list")
    if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" = 0 ]; then
      if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
        echo "== package lists" >&2
        apt-get -qq update >&2 || true
        mapfile -t missing < <(aist_packages_missing "$list")
      fi
      echo "== packages: ${missing[*]}" >&2
      log=$(mktemp)
      # Old package lists name files that are gone: then fetch the lists and try once more.
      if ! aist_packages_install "${missing[@]}" 2>"$log"; then
        { apt-get -qq update >&2 && aist_packages_install "${missing[@]}" 2>"$log"; } || {
          tail -20 "$log" >&2
          rm -f "$log"
          echo "bootstrap: apt-get could not install: ${missing[*]}" >&2
          exit 3
        }
      fi
      rm -f "$log"
    elif [ ${#missing[@]} -gt 0 ]; then
      echo "bootstrap: packages are missing; install them as root with:" >&2
      echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
      exit 3
    fi
  fi
  # A java first on the PATH may be of another version, and cmake finds JNI by JAVA_HOME.
  local home
  for home in /usr/lib/jvm/java-17-openjdk-* /usr/lib/jvm/default-java; do
    if [ -x "$home/bin/javac" ]; then
      export JAVA_HOME=$home
      break
    fi
  done
  export LC_ALL=C.UTF-8
}

aist_bootstrap
