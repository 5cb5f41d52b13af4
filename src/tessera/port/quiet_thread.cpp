#include "tessera/port/quiet_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace tessera::port {

QuietThread::QuietThread(std::function<void()> main) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  // A fault that is blocked ends the program before any handler is asked.
  for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) ::sigdelset(&all, fault);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  try {
    thread_ = std::thread(std::move(main));
  } catch (const std::system_error&) {
    // The limit of processes is reached; thread_ stays empty.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void QuietThread::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace tessera::port
