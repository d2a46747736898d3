#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""BitTorrent by libtorrent, without tracker, DHT or discovery: peers are given.

usage: torrent.py make DIRECTORY TORRENT PIECE_MIB
       torrent.py seed|leech TORRENT SAVE_DIRECTORY ADDRESS PEER,PEER…
"""
import os
import sys
import time

import libtorrent

PORT = 6881


def make(directory, path, piece_mib):
    storage = libtorrent.file_storage()
    libtorrent.add_files(storage, directory)
    torrent = libtorrent.create_torrent(storage, int(piece_mib) << 20)
    libtorrent.set_piece_hashes(torrent, os.path.dirname(directory))
    with open(path, "wb") as file:
        file.write(libtorrent.bencode(torrent.generate()))


def run(role, path, save, address, peers):
    session = libtorrent.session({
        "listen_interfaces": "%s:%d" % (address, PORT), "enable_dht": False, "enable_lsd": False,
        "enable_upnp": False, "enable_natpmp": False, "allow_multiple_connections_per_ip": True,
        "out_enc_policy": 2, "in_enc_policy": 2, "peer_connect_timeout": 3, "connection_speed": 100,
        "unchoke_slots_limit": 8})
    handle = session.add_torrent({"ti": libtorrent.torrent_info(path), "save_path": save})
    others = [p for p in peers.split(",") if p != address]
    announced = False
    while True:
        status = handle.status()
        if status.is_seeding and not announced:
            announced = True
            mark = os.path.join(save, "torrent-ready" if role == "seed" else "done")
            open(mark, "w").close()
        if status.num_peers < len(others):
            for peer in others:
                handle.connect_peer((peer, PORT))
        time.sleep(0.05 if not announced else 0.2)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(*sys.argv[2:])
    else:
        run(*sys.argv[1:])
