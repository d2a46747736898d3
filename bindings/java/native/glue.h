// SPDX-License-Identifier: Apache-2.0
// Between JNI and the C interface: arguments, results, exceptions.
#pragma once

#include <aistation/aistation.h>
#include <jni.h>

#include <cstdint>
#include <initializer_list>
#include <string>

namespace aistation_jni {

// Copy of a byte[]; null gives a null pointer of size 0.
class Bytes {
 public:
  Bytes(JNIEnv* env, jbyteArray array) : null_(array == nullptr) {
    if (null_) return;
    content_.resize(static_cast<size_t>(env->GetArrayLength(array)));
    env->GetByteArrayRegion(array, 0, static_cast<jsize>(content_.size()),
                            reinterpret_cast<jbyte*>(content_.data()));
  }
  const char* data() const { return null_ ? nullptr : content_.data(); }
  size_t size() const { return content_.size(); }

 private:
  const bool null_;
  std::string content_;
};

template <class T>
T* Handle(jlong handle) {
  return reinterpret_cast<T*>(static_cast<intptr_t>(handle));
}

inline JNINativeMethod Method(const char* name, const char* signature, void* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), function};
}

// Throws the AistException of the error and frees it.
void Throw(JNIEnv* env, aist_status status, aist_error* error);
jbyteArray ToArray(JNIEnv* env, const void* data, size_t size);
// Frees the buffer.
jbyteArray Take(JNIEnv* env, aist_bytes* bytes);
jlongArray Longs(JNIEnv* env, std::initializer_list<jlong> values);
void SetLong(JNIEnv* env, jlongArray out, jlong value);

bool RegisterGenerated(JNIEnv* env, jclass native);
bool RegisterByHand(JNIEnv* env, jclass native);

}  // namespace aistation_jni
