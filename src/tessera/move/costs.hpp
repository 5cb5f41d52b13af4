// Costs: the numbers of the cost model.
//
// Thread safety: a value.
#pragma once

namespace tessera::move {

// Costs of the file system at hand, in nanoseconds; a cost model's only numbers. The defaults were
// measured on a local file system with a warm cache (0008 and 0011 in docs/decisions); those of
// several nodes are stated (0021). A profile of the file system takes their place (profile.hpp).
struct Costs {
  double request_ns = 700;           // one small transfer by itself
  double listed_ns = 400;            // one small read in a list
  double listed_page_ns = 150;       // a page of the file that a listed read reaches, besides
  double listed_write_ns = 2000;     // one small write in a list
  double read_byte_ns = 0.08;        // a byte of a large read
  double unaligned_byte_ns = 0.08;   // besides, if that goes to memory that begins inside a line
  double write_byte_ns = 0.10;       // a byte of a large write
  double copy_byte_ns = 0.08;        // a byte copied in memory, in long runs
  double copy_run_ns = 0.7;          // a run copied in memory
  double cached_share = 0.5;         // what is left of the cost of a byte inside the caches
  double lock_ns = 1500;             // taking and giving back a range lock
  double new_run_ns = 1600;          // a listed write behind the end of the file, besides
  double new_page_ns = 300;          // a page behind the end of the file that is written
  double map_ns = 5500;              // mapping a window of the file, first fault and return
  double kept_page_ns = 5;           // a page of a mapping that was kept
  double mapped_byte_share = 0.75;   // what is left of the cost of a byte in a mapping
  double mapped_read_ns = 55;        // a page of it that is read, before any was (PageCosts)
  double mapped_load_ns = 1800;      // a fault of a reader, where one does not bring all of them
  double mapped_write_ns = 50;       // a page of it that is written, besides the faults
  double mapped_fault_ns = 1900;     // a fault of a writer
  double mapped_faults = 0.2;        // for each page that is written, before any was (PageCosts)
  double mapped_group_ns = 8000;     // written pages that lie together, far from others
  double mapped_new_page_ns = 2000;  // a page behind the end of the file that is written there
  double mapped_new_large_ns = 600;  // the same as a part of a large page
  double rendezvous_ns = 40000;  // a barrier among the ranks of a node, for each rank over one core
  double message_ns = 5000;      // a message to a rank of another node, sent and received
  double network_byte_ns = 0.1;  // a byte through the link of a node
  double nodes_served = 1;       // nodes whose transfers the file system serves at the same time

  // A written page of a file of which nothing is known yet.
  [[nodiscard]] double unknown_page_ns() const {
    return mapped_write_ns + mapped_faults * mapped_fault_ns;
  }
};

}  // namespace tessera::move
