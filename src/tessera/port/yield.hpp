// yield: lets another thread that is ready have the core, if there is one.
//
// For waits that are bounded and mostly over at once. Thread safety: any thread. Cost: one system
// call.
#pragma once

#include <sched.h>

namespace tessera::port {

inline void yield() { ::sched_yield(); }

}  // namespace tessera::port
