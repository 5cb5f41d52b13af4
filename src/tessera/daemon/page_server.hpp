// PageServer: one page over HTTP, for those who watch a daemon.
//
// It has a thread and sockets of its own, so that whoever reads the page slowly, sends garbage or
// half a request, or comes too often, keeps nobody else of the daemon waiting.
//   (H1) At most kConnectionsMax connections; who comes beyond waits in the queue of the system.
//   (H2) A connection lives at most kLifeNs, whatever its peer does.
//   (H3) What a peer sends costs at most twice kHttpHeadBytesMax bytes, and one page.
// Thread safety: made and destroyed by one thread; `page` is called on another.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/port/descriptor.hpp"
#include "tessera/port/posix_clock.hpp"

struct pollfd;

namespace tessera::daemon {

class PageServer {
 public:
  static constexpr size_t kConnectionsMax = 16;
  static constexpr int64_t kLifeNs = 5'000'000'000;

  // The text of the page, or nothing if it cannot be had now. Bounds its own time.
  using Page = std::function<std::optional<std::string>()>;

  // Shows the page at `path` of the address, a tcp: address, from now on. Fails with kInvalid on
  // another one, with EADDRINUSE on one that is taken.
  static base::Result<std::unique_ptr<PageServer>> start(const std::string& address,
                                                         std::string path, Page page);
  // Ends all connections.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  // Where the page is: "http://127.0.0.1:9100/metrics".
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  struct Connection {
    port::Descriptor socket;
    int64_t end_ns = 0;
    std::string received = {};
    std::string answer = {};
    size_t sent = 0;
    bool answered = false;
    bool over = false;
  };

  PageServer(port::Descriptor listener, port::Descriptor wake, std::string path, Page page)
      : listener_(std::move(listener)),
        wake_(std::move(wake)),
        path_(std::move(path)),
        page_(std::move(page)) {}

  void run();
  [[nodiscard]] std::vector<pollfd> poll_set(int64_t now_ns) const;
  [[nodiscard]] int64_t wait_ns(int64_t now_ns) const;
  void accept_all(int64_t now_ns);
  void receive(Connection& connection);
  void send(Connection& connection);

  const port::PosixClock clock_;
  const port::Descriptor listener_;
  const port::Descriptor wake_;
  const std::string path_;
  const Page page_;
  std::string url_;
  std::atomic<bool> stopped_ = false;
  int64_t accept_from_ns_ = 0;
  std::list<Connection> connections_;
  std::thread thread_;
};

}  // namespace tessera::daemon
