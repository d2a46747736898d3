/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file security.h
 * Identity and TLS: certificates from the bank's own CA, reloaded without a restart.
 */
#ifndef AISTATION_SECURITY_H_
#define AISTATION_SECURITY_H_

#include "aistation/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Certificates and keys of one identity. Thread-safe; shared by what is made with it. */
typedef struct aist_tls aist_tls;

/** Options of aist_tls_load(). All paths are PEM files. */
typedef struct aist_tls_opts {
  size_t struct_size;
  uint32_t version;
  uint32_t flags;         /**< 0. */
  aist_str ca_file;       /**< Trusted CAs for peers. Required. */
  aist_str cert_file;     /**< Own certificate and chain. Required for servers and for mutual TLS. */
  aist_str key_file;      /**< Own key; must not be readable by others. */
  aist_str allowed_peers; /**< Comma-separated names; a peer's SAN must match one, `*.` allowed as the
                               first label; empty: any name signed by a trusted CA. */
} aist_tls_opts;
#define AIST_TLS_OPTS_INIT \
  { sizeof(aist_tls_opts), AIST_API_VERSION, 0, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } }
/** Sets all fields to their defaults. `size`: bytes at `opts`. Since 0.1. */
AIST_API void aist_tls_opts_init(aist_tls_opts *opts, size_t size);

/** Loads an identity and checks it: key fits certificate, not expired, chain ends at the CA.
 *  @param out  out: owned, free with aist_tls_free().
 *  Blocks: on the disk. Errors: INVALID_ARGUMENT names file and fault; FAILED_PRECONDITION reason
 *  `security.expired`; PERMISSION_DENIED reason `security.key_mode`. Since 0.1. */
AIST_API aist_status aist_tls_load(aist_context *ctx, const aist_tls_opts *opts, aist_tls **out,
                                   aist_error **err);
/** Reads the files again; new connections use the new ones, old connections go on. If the new files
 *  are bad the old ones stay and the error says why. Blocks: on the disk. Since 0.1. */
AIST_API aist_status aist_tls_reload(aist_tls *tls, aist_error **err);
/** Describes the identity: JSON {subject, names, issuer, serial, not_before_unix_ns,
 *  not_after_unix_ns, days_left, generation}. No secret in it.
 *  @param out  out: owned. Since 0.1. */
AIST_API aist_status aist_tls_describe(aist_tls *tls, aist_bytes **out, aist_error **err);
/** Frees an identity. Since 0.1. */
AIST_API void aist_tls_free(aist_tls *tls);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_SECURITY_H_ */
