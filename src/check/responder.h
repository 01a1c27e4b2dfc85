// SPDX-License-Identifier: Apache-2.0
// The passive side: a TCP listener and a UDP socket on every address that this host offers, on ports that the kernel
// chooses, as NCCL's are. Answers only those who show the key; the answer is always smaller than the question.
//
// TCP: the key and kBulk bytes come, kOk goes back. UDP: key, number (32 bits), padding come; kOk, that number and the
// length of what came (32 bits each, network order) go back.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "check/loop.h"
#include "check/net.h"
#include "check/offer.h"

namespace topoguard::check {

inline constexpr std::size_t kBulk = 32768;  ///< several segments, also with an MTU of 9000
inline constexpr std::string_view kOk = "TGOK";
inline constexpr std::size_t kNumber = 4;

void put_number(std::string& out, std::uint32_t number);
std::uint32_t get_number(std::string_view four_bytes);

class Responder {
 public:
  /// Fills in the ports of the offers; 0 where none could be opened, with a line in problems().
  Responder(Loop& loop, std::vector<Offer>& offers, std::string key);
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  ~Responder();

  const std::vector<std::string>& problems() const { return problems_; }

 private:
  struct Visitor {
    Socket socket;
    std::size_t seen = 0;  // bytes
    std::string key;
  };
  void open(Offer& offer);
  void accept_from(int listener);
  void serve(std::list<Visitor>::iterator visitor);
  void drop(std::list<Visitor>::iterator visitor);
  void echo(int fd);

  Loop& loop_;
  std::string key_;
  std::vector<Socket> sockets_;
  std::list<Visitor> visitors_;
  std::vector<std::string> problems_;
};

}  // namespace topoguard::check
