# SPDX-License-Identifier: Apache-2.0
"""usage: both.py LIBRARY library-first|protobuf-first local|global"""
import ctypes
import sys


def load(path, mode):
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL if mode == "global" else ctypes.RTLD_LOCAL)
    for name in ("aist_bytes_data", "aist_error_message"):
        getattr(library, name).restype = ctypes.c_void_p
    library.aist_bytes_size.restype = ctypes.c_size_t
    return library


def messages():
    from google.protobuf.internal import api_implementation
    assert api_implementation.Type() == "cpp", api_implementation.Type()
    from aistation.v1 import inventory_pb2, placement_pb2
    return inventory_pb2, placement_pb2


def use(library, inventory_pb2, placement_pb2):
    def call(name, *arguments):
        error = ctypes.c_void_p()
        if getattr(library, name)(*arguments, ctypes.byref(error)) != 0:
            raise SystemExit("%s: %s" % (name, ctypes.string_at(library.aist_error_message(error)).decode()))

    inventory = inventory_pb2.Inventory()
    node = inventory.nodes.add(name="here", health=inventory_pb2.HEALTH_OK)
    for i in range(4):
        node.cards.add(id="card%d" % i, index=i, health=inventory_pb2.HEALTH_OK)
    data = inventory.SerializeToString()
    request = placement_pb2.PlacementRequest(cards=4).SerializeToString()
    context, store, alloc, out = (ctypes.c_void_p() for _ in range(4))
    call("aist_context_create", None, ctypes.byref(context))
    call("aist_store_open", context, None, ctypes.byref(store))
    call("aist_alloc_open", context, store, 1, data, ctypes.c_size_t(len(data)), ctypes.byref(alloc))
    call("aist_alloc_plan", alloc, 1, request, ctypes.c_size_t(len(request)), ctypes.byref(out))
    placement = placement_pb2.Placement()
    placement.ParseFromString(ctypes.string_at(library.aist_bytes_data(out), library.aist_bytes_size(out)))
    assert len(placement.nodes[0].cards) == 4, placement
    library.aist_bytes_free(out)
    library.aist_alloc_free(alloc)
    library.aist_store_free(store)
    library.aist_context_free(context)


def main():
    path, order, mode = sys.argv[1:]
    if order == "library-first":
        library = load(path, mode)
        use(library, *messages())
    else:
        modules = messages()
        use(load(path, mode), *modules)


main()
