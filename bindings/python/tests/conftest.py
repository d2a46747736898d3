# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"))
import aistation  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


@pytest.fixture
def context():
    with aistation.Context("test") as c:
        yield c


@pytest.fixture
def store(context):
    with context.open_store() as s:
        yield s


def openssl(*arguments):
    subprocess.run(["openssl"] + list(arguments), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def identities(tmp_path_factory):
    """Function name -> (ca, cert, key) of one CA; the name and 127.0.0.1 are SANs."""
    directory = tmp_path_factory.mktemp("tls")
    ca, ca_key = str(directory / "ca.pem"), str(directory / "ca.key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=test CA", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", ca_key, "-out", ca)

    def make(name):
        base = str(directory / name)
        if not os.path.exists(base + ".pem"):
            with open(base + ".ext", "w", encoding="ascii") as file:
                file.write("subjectAltName=DNS:%s,IP:127.0.0.1\n" % name)
            openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=" + name, "-keyout", base + ".key", "-out", base + ".csr")
            openssl("x509", "-req", "-in", base + ".csr", "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
                    "-days", "2", "-extfile", base + ".ext", "-out", base + ".pem")
            os.chmod(base + ".key", 0o600)
        return ca, base + ".pem", base + ".key"

    return make


def inventory(nodes=2, cards=4):
    return {"nodes": [{"name": "n%d" % n, "address": "127.0.0.1", "port": 1, "rack": "r1", "health": "HEALTH_OK",
                       "cards": [{"id": "n%d-c%d" % (n, c), "index": c, "health": "HEALTH_OK"} for c in range(cards)]}
                      for n in range(nodes)],
            "quotas": [{"department": "risk", "cards": 6}]}


@pytest.fixture
def allocator(context, store):
    with context.open_allocator(store, inventory()) as a:
        yield a
