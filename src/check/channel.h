// SPDX-License-Identifier: Apache-2.0
// Messages over one TCP connection, without blocking. What the other side sends is a Message or the end of the
// connection: garbage, another version, too much and malformed documents all end it. Not thread-safe.
#pragma once

#include <functional>
#include <string>

#include "check/frame.h"
#include "check/loop.h"
#include "check/messages.h"
#include "check/net.h"

namespace topoguard::check {

struct Ending {
  enum class Why : std::uint8_t { closed, stranger, other_version, malformed } why = Why::closed;
  std::uint16_t version = 0;  ///< where another one
  std::string detail;         ///< for people
};

class Channel {
 public:
  using OnMessage = std::function<void(Message&)>;  ///< may take from it
  using OnEnding = std::function<void(const Ending&)>;

  /// `limit` bytes a message. The handlers must not destroy the channel; they may close() it.
  Channel(Loop& loop, Socket socket, Target peer, std::size_t limit, OnMessage on_message, OnEnding on_ending);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  void send(const Message& message);
  void allow(std::size_t bytes);  ///< a message, from now on
  void close();                   ///< on_ending is not called
  bool open() const { return static_cast<bool>(socket_.fd); }
  bool flushed() const { return !open() || out_.empty(); }
  const Target& peer() const { return peer_; }

 private:
  void handle(short events);
  void receive();
  void flush();
  void end(Ending ending);

  Loop& loop_;
  Socket socket_;
  Target peer_;
  std::size_t limit_;
  FrameReader reader_;
  std::string out_;
  OnMessage on_message_;
  OnEnding on_ending_;
};

}  // namespace topoguard::check
