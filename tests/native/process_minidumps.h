// Small minidumps, stream by stream; the layouts are those of the format's own headers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arch/architecture.h"
#include "object_elf_images.h"

namespace whocall::testing {

template <typename... Numbers>
void append_numbers(Bytes& bytes, Numbers... numbers) {
  (append(bytes, &numbers, sizeof numbers), ...);
}

inline std::uint32_t u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

// In the directory's order; what streams point to goes before all of them.
class MinidumpBuilder {
 public:
  explicit MinidumpBuilder(std::uint16_t processor = 9, std::uint32_t system = 0x8201) : file_(32) {
    Bytes info(56);
    put(info, 0, processor);
    put(info, 20, system);
    stream(7, info);
  }

  // Where it lies.
  std::uint32_t add(const Bytes& contents) {
    file_.resize((file_.size() + 7) / 8 * 8);
    const auto place = u32(file_.size());
    append(file_, contents.data(), contents.size());
    return place;
  }
  std::uint32_t text(const std::u16string& words) {
    Bytes contents;
    append_numbers(contents, u32(words.size() * 2));
    append(contents, words.data(), words.size() * 2);
    return add(contents);
  }
  MinidumpBuilder& stream(std::uint32_t kind, const Bytes& contents) {
    append_numbers(directory_, kind, u32(contents.size()), add(contents));
    return *this;
  }
  // With the count in front.
  MinidumpBuilder& list(std::uint32_t kind, std::uint32_t count, const Bytes& rows) {
    Bytes contents;
    append_numbers(contents, count);
    append(contents, rows.data(), rows.size());
    return stream(kind, contents);
  }

  Bytes build() {
    const std::uint32_t at = add(directory_);
    put(file_, 0, u32(0x504d444d));
    put(file_, 8, u32(directory_.size() / 12));
    put(file_, 12, at);
    put(file_, 20, u32(1700000000));
    return std::exchange(file_, {});
  }

 private:
  Bytes file_;
  Bytes directory_;
};

struct ThreadRow {
  std::uint32_t lwp = 0;
  std::uint64_t teb = 0;
  std::uint64_t stack = 0;
  std::uint32_t stack_size = 0;
  std::uint32_t stack_place = 0;
  std::uint32_t context_size = 0;
  std::uint32_t context_place = 0;
};

inline void append_thread(Bytes& rows, const ThreadRow& row) {
  append_numbers(rows, row.lwp, u32(0), u32(0), u32(0), row.teb, row.stack, row.stack_size,
                 row.stack_place, row.context_size, row.context_place);
}

inline void append_module(Bytes& rows, std::uint64_t begin, std::uint32_t size, std::uint32_t name,
                          std::uint32_t record_size, std::uint32_t record) {
  append_numbers(rows, begin, size, u32(0), u32(0), name);
  rows.resize(rows.size() + 52);
  append_numbers(rows, record_size, record);
  rows.resize(rows.size() + 24);
}

inline Bytes exception_of(std::uint32_t lwp, std::uint32_t signal, std::uint32_t code,
                          std::uint64_t address, std::uint32_t context_size,
                          std::uint32_t context) {
  Bytes contents;
  append_numbers(contents, lwp, u32(0), signal, code, std::uint64_t{0}, address);
  contents.resize(160);
  append_numbers(contents, context_size, context);
  return contents;
}

// CONTEXT of AMD64 whose rip is `pc` and whose rsp is `sp`.
inline Bytes context_of_amd64(Address pc, Address sp) {
  Bytes context(1232);
  put(context, 152, sp);
  put(context, 248, pc);
  return context;
}

}  // namespace whocall::testing
