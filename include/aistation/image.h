/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file image.h
 * Container images: to all nodes of a job for one download from the registry.
 */
#ifndef AISTATION_IMAGE_H_
#define AISTATION_IMAGE_H_

#include "aistation/base.h"
#include "aistation/node.h"
#include "aistation/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pulls an image to this node, together with the other members, who must be told the same request.
 *  Every byte is read from the registry once for all members, verified, and committed whole.
 *  @param request  ImagePullRequest document in `format`.
 *  @param op       out: owned; progress in bytes; result: ImageResult.
 *  Errors (of the operation): NOT_FOUND no such image or platform; UNAUTHENTICATED,
 *  PERMISSION_DENIED the registry refuses; DATA_LOSS bytes do not have their digest;
 *  UNAVAILABLE registry or peers cannot be reached; INVALID_ARGUMENT bad reference or manifest.
 *  Since 0.1. */
AIST_API aist_status aist_image_pull(aist_node *node, aist_format format, const void *request,
                                     size_t request_size, aist_op **op, aist_error **err);
/** Has all members of a request pull it: sends the request to each, waits for all.
 *  @param request  ImagePullRequest with the members.
 *  @param tls      identity that the members accept.
 *  @param op       out: owned; progress over all members; result: JSON or protobuf Attempt with
 *                  `images` in the order of the members. Since 0.1. */
AIST_API aist_status aist_image_distribute(aist_context *ctx, aist_tls *tls, aist_format format,
                                           const void *request, size_t request_size, aist_op **op,
                                           aist_error **err);
/** Images on this node. @param out  out: ImageList document, owned. Since 0.1. */
AIST_API aist_status aist_image_list(aist_node *node, aist_format format, aist_bytes **out,
                                     aist_error **err);
/** Keeps an image from being evicted (on = 1) or allows it again (on = 0). Errors: NOT_FOUND.
 *  Since 0.1. */
AIST_API aist_status aist_image_pin(aist_node *node, const char *reference, size_t reference_len,
                                    uint8_t on, aist_error **err);
/** Writes an image as an OCI layout directory: blobs are hard links where the file system allows.
 *  @param directory  must not exist or be empty; complete or not there at all.
 *  Blocks: on the disk. Errors: NOT_FOUND; ALREADY_EXISTS. Since 0.1. */
AIST_API aist_status aist_image_export(aist_node *node, const char *reference, size_t reference_len,
                                       const char *directory, size_t directory_len, aist_error **err);

#ifdef __cplusplus
}
#endif

#endif /* AISTATION_IMAGE_H_ */
