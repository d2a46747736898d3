// SPDX-License-Identifier: Apache-2.0
// Loading, exceptions, and the functions whose shape the generator does not know.
#include <cstring>

#include "glue.h"

namespace aistation_jni {
namespace {

// Set once in JNI_OnLoad, while nobody else can be here.
JavaVM* g_vm = nullptr;
jclass g_exception = nullptr;
jmethodID g_make_exception = nullptr;
jclass g_hook = nullptr;
jmethodID g_log = nullptr;

jbyteArray TextArray(JNIEnv* env, const char* text) {
  return ToArray(env, text, std::strlen(text));
}

// An attached thread of the library's pool; detached again, since it does not belong to Java.
void Log(void* user, uint32_t level, const char* module, const char* message) {
  JNIEnv* env = nullptr;
  const bool attached = g_vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8) != JNI_OK;
  if (attached &&
      g_vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&env), nullptr) != JNI_OK)
    return;
  // A hook may be called while its thread has an exception of its own: not ours to touch.
  if (!env->ExceptionCheck() && env->PushLocalFrame(8) == 0) {
    jbyteArray name = TextArray(env, module);
    jbyteArray text = name == nullptr ? nullptr : TextArray(env, message);
    if (text != nullptr) {
      env->CallStaticVoidMethod(g_hook, g_log, static_cast<jobject>(user),
                                static_cast<jlong>(level), name, text);
    }
    if (env->ExceptionCheck()) env->ExceptionClear();
    env->PopLocalFrame(nullptr);
  }
  if (attached) g_vm->DetachCurrentThread();
}

void DropLog(void* user) {
  JNIEnv* env = nullptr;
  const bool attached = g_vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8) != JNI_OK;
  if (attached &&
      g_vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&env), nullptr) != JNI_OK)
    return;
  env->DeleteGlobalRef(static_cast<jobject>(user));
  if (attached) g_vm->DetachCurrentThread();
}

jlong JNICALL ContextCreate(JNIEnv* env, jclass, jbyteArray name, jobject hook, jlong level,
                            jlong max_threads, jlong deadline_ns) {
  const Bytes name_bytes(env, name);
  aist_context_opts opts = AIST_CONTEXT_OPTS_INIT;
  opts.name = {name_bytes.data(), name_bytes.size()};
  opts.log_level = static_cast<uint32_t>(level);
  opts.max_threads = static_cast<uint32_t>(max_threads);
  opts.default_deadline_ns = deadline_ns;
  jobject reference = hook == nullptr ? nullptr : env->NewGlobalRef(hook);
  if (reference != nullptr) {
    opts.log = Log;
    opts.log_user = reference;
    opts.log_drop = DropLog;
  }
  aist_context* out = nullptr;
  aist_error* error = nullptr;
  aist_status status = aist_check_version(AIST_API_VERSION, &error);
  if (status == AIST_OK) status = aist_context_create(&opts, &out, &error);
  if (status == AIST_OK) return reinterpret_cast<jlong>(out);
  if (reference != nullptr) env->DeleteGlobalRef(reference);
  Throw(env, status, error);
  return 0;
}

jobjectArray Pair(JNIEnv* env, jlongArray numbers, jbyteArray text) {
  jclass object = env->FindClass("java/lang/Object");
  if (object == nullptr || numbers == nullptr || text == nullptr) return nullptr;
  jobjectArray out = env->NewObjectArray(2, object, nullptr);
  if (out == nullptr) return nullptr;
  env->SetObjectArrayElement(out, 0, numbers);
  env->SetObjectArrayElement(out, 1, text);
  return out;
}

jobjectArray JNICALL OpProgress(JNIEnv* env, jclass, jlong op) {
  aist_op_progress_info info = AIST_OP_PROGRESS_INFO_INIT;
  aist_error* error = nullptr;
  if (const aist_status status = aist_op_progress(Handle<aist_op>(op), &info, &error);
      status != AIST_OK) {
    Throw(env, status, error);
    return nullptr;
  }
  return Pair(env,
              Longs(env, {static_cast<jlong>(info.done), static_cast<jlong>(info.total),
                          static_cast<jlong>(info.elapsed_ns), static_cast<jlong>(info.done_flag)}),
              TextArray(env, info.phase));
}

jobjectArray JNICALL DatasetStat(JNIEnv* env, jclass, jlong dataset, jlong index) {
  aist_str path{};
  uint64_t size = 0;
  aist_error* error = nullptr;
  const aist_status status = aist_dataset_stat(Handle<aist_dataset>(dataset),
                                               static_cast<uint64_t>(index), &path, &size, &error);
  if (status != AIST_OK) {
    Throw(env, status, error);
    return nullptr;
  }
  return Pair(env, Longs(env, {static_cast<jlong>(size)}), ToArray(env, path.data, path.size));
}

// In pieces: a large read must not need as much again on the native side.
jlong JNICALL DatasetRead(JNIEnv* env, jclass, jlong dataset, jlong index, jlong offset,
                          jbyteArray buffer, jint from, jint size) {
  std::string piece(static_cast<size_t>(size < (1 << 20) ? size : (1 << 20)), '\0');
  jint done = 0;
  while (done < size) {
    const size_t want = piece.size() < static_cast<size_t>(size - done)
                            ? piece.size()
                            : static_cast<size_t>(size - done);
    size_t got = 0;
    aist_error* error = nullptr;
    const aist_status status =
        aist_dataset_read(Handle<aist_dataset>(dataset), static_cast<uint64_t>(index),
                          static_cast<uint64_t>(offset + done), piece.data(), want, &got, &error);
    if (status != AIST_OK) {
      Throw(env, status, error);
      return 0;
    }
    env->SetByteArrayRegion(buffer, from + done, static_cast<jsize>(got),
                            reinterpret_cast<const jbyte*>(piece.data()));
    if (env->ExceptionCheck()) return 0;
    done += static_cast<jint>(got);
    if (got < want) break;
  }
  return done;
}

jbyteArray JNICALL VersionString(JNIEnv* env, jclass) {
  return TextArray(env, aist_version_string());
}

}  // namespace

jbyteArray ToArray(JNIEnv* env, const void* data, size_t size) {
  jbyteArray out = env->NewByteArray(static_cast<jsize>(size));
  if (out != nullptr) {
    env->SetByteArrayRegion(out, 0, static_cast<jsize>(size), static_cast<const jbyte*>(data));
  }
  return out;
}

jbyteArray Take(JNIEnv* env, aist_bytes* bytes) {
  jbyteArray out = ToArray(env, aist_bytes_data(bytes), aist_bytes_size(bytes));
  aist_bytes_free(bytes);
  return out;
}

jlongArray Longs(JNIEnv* env, std::initializer_list<jlong> values) {
  jlongArray out = env->NewLongArray(static_cast<jsize>(values.size()));
  if (out != nullptr)
    env->SetLongArrayRegion(out, 0, static_cast<jsize>(values.size()), values.begin());
  return out;
}

void SetLong(JNIEnv* env, jlongArray out, jlong value) {
  if (out != nullptr) env->SetLongArrayRegion(out, 0, 1, &value);
}

void Throw(JNIEnv* env, aist_status status, aist_error* error) {
  const aist_error* cause = aist_error_cause(error);
  jbyteArray reason = TextArray(env, aist_error_reason(error));
  jbyteArray message = reason == nullptr ? nullptr : TextArray(env, aist_error_message(error));
  jbyteArray why =
      message == nullptr || cause == nullptr ? nullptr : TextArray(env, aist_error_message(cause));
  if (message != nullptr) {
    jobject exception = env->CallStaticObjectMethod(
        g_exception, g_make_exception, static_cast<jlong>(status), reason, message,
        static_cast<jboolean>(aist_error_retryable(error)),
        static_cast<jlong>(aist_error_errno(error)), why);
    if (exception != nullptr && !env->ExceptionCheck())
      env->Throw(static_cast<jthrowable>(exception));
  }
  aist_error_free(error);
}

bool RegisterByHand(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      Method("contextCreate", "([BLorg/aistation/LogHook;JJJ)J",
             reinterpret_cast<void*>(ContextCreate)),
      Method("opProgress", "(J)[Ljava/lang/Object;", reinterpret_cast<void*>(OpProgress)),
      Method("datasetStat", "(JJ)[Ljava/lang/Object;", reinterpret_cast<void*>(DatasetStat)),
      Method("datasetRead", "(JJJ[BII)J", reinterpret_cast<void*>(DatasetRead)),
      Method("versionString", "()[B", reinterpret_cast<void*>(VersionString)),
  };
  return env->RegisterNatives(native, methods, sizeof(methods) / sizeof(methods[0])) == 0;
}

namespace {

jclass GlobalClass(JNIEnv* env, const char* name) {
  jclass local = env->FindClass(name);
  return local == nullptr ? nullptr : static_cast<jclass>(env->NewGlobalRef(local));
}

}  // namespace
}  // namespace aistation_jni

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  using namespace aistation_jni;
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  g_vm = vm;
  g_exception = GlobalClass(env, "org/aistation/AistException");
  g_hook = GlobalClass(env, "org/aistation/LogHook");
  if (g_exception == nullptr || g_hook == nullptr) return JNI_ERR;
  g_make_exception =
      env->GetStaticMethodID(g_exception, "of", "(J[B[BZJ[B)Lorg/aistation/AistException;");
  g_log = env->GetStaticMethodID(g_hook, "deliver", "(Lorg/aistation/LogHook;J[B[B)V");
  jclass native = env->FindClass("org/aistation/Native");
  if (g_make_exception == nullptr || g_log == nullptr || native == nullptr) return JNI_ERR;
  return RegisterByHand(env, native) && RegisterGenerated(env, native) ? JNI_VERSION_1_8 : JNI_ERR;
}
