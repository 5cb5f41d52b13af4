// FileGuard: keeps the clients of a lock server and the programs that lock the file by fcntl apart.
//
// The rest of the world is one more client of the server. While it has its turn, it holds a lock on
// all bytes in the server's table; while the clients have theirs, this process holds a range lock
// on all bytes of the file.
//   (G1) A client is granted a lock only while the range lock is held. (One that survived a server
//        is held while the next server still tries.)
//   (G2) The world has its turn when no client has asked for a while, and else after each kTurnNs,
//        for a moment at least: whoever waits for the file outside is not starved.
//   (G3) While clients grant themselves locks (lock/claim_board.hpp) they keep the file for a whole
//        turn, and take it again after the world's if they have used it in their last one: a pause
//        between two accesses is no reason to make the next one ask.
//
//   world's --recalled--> taking --range lock taken--> clients' --idle, turn over--> draining
//      ^                                                                               |
//      +--------------------------- granted: range lock given back --------------------+
//
// On file systems without range locks it is the clients' turn for ever.
// Time is what the caller says. Thread safety: none; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tessera/lock/local_client.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::daemon {

class FileGuard {
 public:
  // The connection of the world to the server; no transport gives it to a client.
  static constexpr lock::LockServer::Peer kPeer = ~lock::LockServer::Peer{0};

  // `name` is what clients call the file. Requires that the server outlives it.
  FileGuard(lock::LockServer& server, std::unique_ptr<port::PlainFile> file, std::string name);

  void start(int64_t now_ns);
  // A frame of the server to kPeer.
  void deliver(base::Bytes frame) { world_.deliver(std::move(frame)); }
  // Does what has become due, or possible by what the server has done.
  void advance(int64_t now_ns);
  [[nodiscard]] std::optional<int64_t> next_due_ns() const;

  [[nodiscard]] bool is_clients_turn() const { return turn_ == Turn::kClients; }

 private:
  enum class Turn { kWorld, kTaking, kClients, kDraining };

  // Tries to take the range lock, and lets the clients in.
  void take(int64_t now_ns);
  void begin_clients_turn(int64_t now_ns);
  void drain(int64_t now_ns, int64_t pause_ns);
  void see(const lock::LockClient::Event& event, int64_t now_ns);
  // Whether no client asks for anything, or has something.
  [[nodiscard]] bool idle() const;
  void see_use(int64_t now_ns);
  // Ends the clients' turn if it is over.
  void end_clients_turn(int64_t now_ns);

  lock::LockServer& server_;
  const std::unique_ptr<port::PlainFile> file_;
  const std::string name_;
  lock::LocalClient world_;
  Turn turn_ = Turn::kTaking;
  std::optional<lock::Sequence> lock_;  // of the world, held or asked for
  bool guards_ = true;                  // the file system has range locks
  int64_t since_ns_ = 0;                // of the turn
  int64_t busy_ns_ = 0;                 // when a client last asked for something
  int64_t next_try_ns_ = 0;
  int64_t pause_ns_ = 0;         // what the world's turn lasts at least
  int64_t looked_ns_ = 0;        // whether clients use the file
  uint64_t claims_ = 0;          // on the board, as far as they were seen
  bool used_ = false;            // by clients, in their last turn
  bool takes_it_again_ = false;  // once, after the world's turn (G3)
};

}  // namespace tessera::daemon
