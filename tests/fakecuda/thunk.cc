// SPDX-License-Identifier: Apache-2.0
#include "thunk.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#if !defined(__x86_64__)
#error "the CUDA runtime redirect writes x86-64 machine code"
#endif

namespace fakecuda {
namespace {

struct Thunk {
  std::string name;
  std::uint64_t calls = 0;  // incremented by generated code, with a lock prefix
  std::atomic<bool> reported{false};
  void* code = nullptr;
};

struct Thunks {
  std::mutex mutex;
  std::map<std::string, Thunk*> by_name;
  unsigned char* page = nullptr;
  std::size_t used = 0;
};

// Leaked on purpose, like each Thunk: generated code refers to them until the process is gone.
Thunks& thunks() {
  static Thunks* const all = new Thunks;
  return *all;
}

constexpr std::size_t kPageBytes = 64 * 1024;
constexpr int kCudaErrorNotSupported = 801;

int report_unimplemented(Thunk* thunk) {
  if (!thunk->reported.exchange(true)) std::fprintf(stderr, "fakecuda: UNIMPLEMENTED %s\n", thunk->name.c_str());
  return kCudaErrorNotSupported;
}

class Assembler {
 public:
  void bytes(std::initializer_list<unsigned char> raw) { code_.insert(code_.end(), raw); }
  void address(const void* value) {
    std::array<unsigned char, sizeof value> raw;
    std::memcpy(raw.data(), &value, sizeof value);
    code_.insert(code_.end(), raw.begin(), raw.end());
  }
  const std::vector<unsigned char>& code() const { return code_; }

 private:
  std::vector<unsigned char> code_;
};

// r11 belongs to neither caller nor callee at a call and carries no argument (System V ABI), so it is free here.
std::vector<unsigned char> thunk_code(Thunk* thunk, void* target) {
  Assembler out;
  out.bytes({0x49, 0xbb});  // movabs r11, &calls
  out.address(&thunk->calls);
  out.bytes({0xf0, 0x49, 0xff, 0x03});  // lock inc qword [r11]
  if (target == nullptr) {
    out.bytes({0x48, 0xbf});  // movabs rdi, thunk
    out.address(thunk);
    target = reinterpret_cast<void*>(&report_unimplemented);
  }
  out.bytes({0x49, 0xbb});  // movabs r11, target
  out.address(target);
  out.bytes({0x41, 0xff, 0xe3});  // jmp r11
  return out.code();
}

// Pages stay writable while they fill: one process of a test rig, nothing to protect from itself.
void* place(Thunks& all, const std::vector<unsigned char>& code) {
  if (all.page == nullptr || all.used + code.size() > kPageBytes) {
    void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
      std::perror("fakecuda: no executable memory for the redirect");
      std::abort();
    }
    all.page = static_cast<unsigned char*>(page);
    all.used = 0;
  }
  void* where = all.page + all.used;
  std::memcpy(where, code.data(), code.size());
  all.used += (code.size() + 15) / 16 * 16;
  return where;
}

std::array<unsigned char, kJumpSize> jump_bytes(const void* target) {
  std::array<unsigned char, kJumpSize> jump{0xff, 0x25};
  std::memcpy(jump.data() + 6, &target, sizeof target);
  return jump;
}

}  // namespace

void* counted_thunk(const std::string& name, void* target) {
  Thunks& all = thunks();
  std::lock_guard<std::mutex> lock(all.mutex);
  Thunk*& thunk = all.by_name[name];
  if (thunk == nullptr) {
    thunk = new Thunk;
    thunk->name = name;
    thunk->code = place(all, thunk_code(thunk, target));
  }
  return thunk->code;
}

std::map<std::string, std::uint64_t> call_counts() {
  Thunks& all = thunks();
  std::lock_guard<std::mutex> lock(all.mutex);
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [name, thunk] : all.by_name) counts[name] = __atomic_load_n(&thunk->calls, __ATOMIC_RELAXED);
  return counts;
}

bool write_jump(std::uintptr_t entry, const void* target) {
  const std::uintptr_t page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* first_page = reinterpret_cast<void*>(entry / page_size * page_size);
  std::size_t length = entry + kJumpSize - reinterpret_cast<std::uintptr_t>(first_page);
  if (mprotect(first_page, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(entry), jump_bytes(target).data(), kJumpSize);
  return mprotect(first_page, length, PROT_READ | PROT_EXEC) == 0;
}

bool is_jump_to(std::uintptr_t entry, const void* target) {
  return std::memcmp(reinterpret_cast<const void*>(entry), jump_bytes(target).data(), kJumpSize) == 0;
}

}  // namespace fakecuda
