// SPDX-License-Identifier: Apache-2.0
// Handles that more than one shim takes.
#pragma once

#include "accel/catalogue.h"
#include "aistation/accel.h"
#include "aistation/alloc.h"
#include "aistation/node.h"
#include "aistation/security.h"
#include "aistation/store.h"
#include "aistation/topology.h"
#include "alloc/allocator.h"
#include "api/handle.h"
#include "job/node.h"
#include "security/tls.h"
#include "store/store.h"
#include "topology/topology.h"

struct aist_tls : aistation::api::Handle<aistation::security::TlsIdentity> {
  using Handle::Handle;
};
struct aist_store : aistation::api::Handle<aistation::store::Store> {
  using Handle::Handle;
};
struct aist_catalogue : aistation::api::Handle<const aistation::accel::Catalogue> {
  using Handle::Handle;
};
struct aist_topology : aistation::api::Handle<const aistation::topology::Topology> {
  using Handle::Handle;
};
struct aist_allocator_state : aistation::api::Handle<aistation::alloc::Allocator> {
  using Handle::Handle;
};
struct aist_node : aistation::api::Handle<aistation::job::Node> {
  using Handle::Handle;
};
