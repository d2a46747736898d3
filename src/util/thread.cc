// SPDX-License-Identifier: Apache-2.0
#include "util/thread.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace aistation::util {
namespace {

struct Body {
  std::string name;
  std::function<void()> run;
};

void* Run(void* argument) {
  std::unique_ptr<Body> body(static_cast<Body*>(argument));
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  pthread_setname_np(pthread_self(), body->name.substr(0, 15).c_str());
  body->run();
  return nullptr;
}

}  // namespace

struct Thread::State {
  pthread_t id{};
};

Thread::Thread() = default;
Thread::~Thread() { Join(); }
Thread::Thread(Thread&& other) noexcept : state_(std::move(other.state_)) {}
Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    Join();
    state_ = std::move(other.state_);
  }
  return *this;
}

Thread Thread::Start(const std::string& name, std::function<void()> body) {
  Thread thread;
  auto argument = std::make_unique<Body>(Body{name, std::move(body)});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it
  pthread_t id;
  if (pthread_create(&id, &attributes, Run, argument.get()) == 0) {
    (void)argument.release();
    thread.state_ = std::make_unique<State>(State{id});
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return thread;
}

bool Thread::IsCurrent() const {
  return state_ != nullptr && pthread_equal(state_->id, pthread_self()) != 0;
}

void Thread::Join() {
  if (state_ == nullptr) return;
  if (IsCurrent()) {
    pthread_detach(state_->id);
  } else {
    pthread_join(state_->id, nullptr);
  }
  state_.reset();
}

}  // namespace aistation::util
