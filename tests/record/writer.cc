// SPDX-License-Identifier: Apache-2.0
// One process that tells of connections as the wrap does, for run: writer LOG METRICS COUNT [STOP]. With STOP it goes
// on until a file of that name is there. Exit status 0 whatever becomes of the files.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/journal.h"
#include "record/record.h"

using namespace topoguard;

namespace {

// Lines of very different lengths, some of them over several pages.
std::string filling(std::uint64_t number) { return std::string(number % 7 == 0 ? 9000 : number * 37 % 400, 'x'); }

void tell_of_one(const Session& session, const Voice& voice) {
  record::Connection connection;
  connection.id = record::next_connection();
  connection.side = connection.id % 2 == 0 ? record::Side::send : record::Side::recv;
  connection.transport = "Socket";
  connection.device_name = "eth0";
  connection.device = 0;
  connection.local = "10.0.0.1";
  connection.peer = "10.0.0.2";
  connection.peer_detail = filling(connection.id);
  record::connected(session, voice, connection, 0.001);
  record::memory_registered(session, voice, connection, record::Memory::host, 0);
  record::moved(session, connection, 3, 4096);
  record::closed(session, voice, connection);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  auto* session = new Session;
  session->decided = true;
  session->policy.log_file = argv[1];
  session->policy.metrics = argv[2];
  const int count = std::atoi(argv[3]);
  const char* stop = argc > 4 ? argv[4] : nullptr;
  journal::configure(session->policy);
  const Voice voice = session->voice(nullptr);
  record::communicator_opened(*session, voice, 0x1234, "Socket", 1);
  for (int i = 0; i < count || (stop != nullptr && access(stop, F_OK) != 0); ++i) {
    tell_of_one(*session, voice);
    if (stop != nullptr) usleep(200);
  }
  record::communicator_closed(*session, voice, 0x1234);
  return 0;
}
