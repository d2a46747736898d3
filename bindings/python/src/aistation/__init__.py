# SPDX-License-Identifier: Apache-2.0
"""aistation: a bank's scattered servers as one AI computing centre.

    import aistation
    with aistation.Context() as context:
        print(context.discover().cards)

Everything is made from a Context, is a context manager and may be used from several threads. Long work
gives an Op: `op.result()` waits, `await op` does so in asyncio. Errors are classes by status code, see
aistation.errors.
"""
from . import documents, errors
from .alloc import Allocator
from .context import Context, feature, live_objects, version
from .dataset import Dataset
from .devices import Catalogue, Distance, Topology
from .errors import AistError
from .job import JobManager
from .monitor import Events
from .node import Node
from .op import Op, Progress
from .security import Tls
from .store import Lease, Store, Watch

__version__ = "0.1.0"
__all__ = ["AistError", "Allocator", "Catalogue", "Context", "Dataset", "Distance", "Events", "JobManager", "Lease",
           "Node", "Op", "Progress", "Store", "Tls", "Topology", "Watch", "documents", "errors", "feature",
           "live_objects", "version"]
