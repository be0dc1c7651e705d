// The rules that instructions give, held against the tables that this process' own libraries have;
// and their readers against decoders that others wrote.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/aarch64/code_step.h"
#include "arch/x86/code_step.h"
#include "arch/x86/decoder.h"
#include "rules/cfi_rule.h"
#include "rules/frame_tables.h"
#include "runtime/code_rule.h"

namespace whocall::test {
namespace {

using rules::FrameRule;

constexpr std::uintptr_t kAt = 0x401000;

// One library of this process, its tables and its range.
struct Library {
  std::string_view name;
  std::uintptr_t end = 0;
  std::uintptr_t begin = 0;
  rules::FrameTables tables{};
  bool is_found = false;
};

int visit(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& library = *static_cast<Library*>(data);
  if (std::string_view(info->dlpi_name).find(library.name) == std::string_view::npos) {
    return 0;
  }
  library.begin = UINTPTR_MAX;
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      library.begin = std::min(library.begin, at);
      library.end = std::max(library.end, at + part.p_memsz);
    } else if (part.p_type == PT_GNU_EH_FRAME) {
      library.tables.header = at;
    }
  }
  library.tables.mapped = {reinterpret_cast<const std::byte*>(library.begin), library.begin,
                           library.end - library.begin};
  library.is_found = true;
  return 1;
}

std::size_t readable(void* library, std::uintptr_t address, std::size_t wanted) {
  const auto& all = *static_cast<const Library*>(library);
  return address >= all.begin && address < all.end ? std::min(wanted, all.end - address) : 0;
}

#if defined(__x86_64__) && defined(__LP64__)
constexpr rules::FrameRegisters kRegisters{.sp = 7, .fp = 6};
constexpr StepReader kReader = x86::read_step;
constexpr bool kHasLink = false;
#elif defined(__aarch64__)
constexpr rules::FrameRegisters kRegisters{.sp = 31, .fp = 29, .link = 30};
constexpr StepReader kReader = aarch64::read_step;
constexpr bool kHasLink = true;
#endif

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)

// Functions, by the sorted table of .eh_frame_hdr.
std::vector<rules::FrameDescription> functions_of(const Library& library) {
  std::uint32_t count = 0;
  std::memcpy(&count, reinterpret_cast<const void*>(library.tables.header + 8), sizeof count);
  std::vector<rules::FrameDescription> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::int32_t place = 0;
    std::memcpy(&place, reinterpret_cast<const void*>(library.tables.header + 12 + 8UL * i), 4);
    const std::uintptr_t begin = library.tables.header + static_cast<std::uintptr_t>(place);
    rules::WholeDescription whole;
    REQUIRE(rules::find_description(library.tables, begin, whole));
    const FrameRule rule = rules::rule_at(whole, kRegisters, begin);
    const std::int32_t empty = kHasLink ? 0 : 8;
    if (!whole.cie.signal_frame && rule.cfa == FrameRule::Cfa::from_sp &&
        rule.cfa_offset == empty) {
      all.push_back(whole.fde);
    }
  }
  return all;
}

struct Count {
  std::size_t same = 0;
  std::size_t unknown = 0;
  std::size_t wrong = 0;
};

// All calls in a function: the rule of the code behind each, and the table's.
void compare(Library& library, const rules::FrameDescription& function, Count& count) {
  for (std::uintptr_t at = function.begin; at < function.end;) {
    const CodeStep step = kReader(reinterpret_cast<const std::uint8_t*>(at), 16, at);
    if (step.size == 0) {
      return;
    }
    at += step.size;
    rules::WholeDescription whole;
    if (step.flow != CodeStep::Flow::call ||
        !rules::find_description(library.tables, at - 1, whole)) {
      continue;
    }
    const FrameRule told = rules::rule_at(whole, kRegisters, at - 1);
    if (told.cfa != FrameRule::Cfa::from_sp && told.cfa != FrameRule::Cfa::from_fp) {
      continue;
    }
    const FrameRule read = runtime::rule_by_code({.begin = function.begin,
                                                  .end = function.end,
                                                  .place = at,
                                                  .has_link = kHasLink,
                                                  .word = 8,
                                                  .step = kReader,
                                                  .readable = readable,
                                                  .reader = &library});
    const bool is_same = read.cfa != told.cfa || (read.cfa_offset == told.cfa_offset &&
                                                  read.return_slot == told.return_slot);
    (read.cfa == FrameRule::Cfa::none ? count.unknown : is_same ? count.same : count.wrong) += 1;
  }
}

// The names of libraries of this process: the C library's, and those that WHOCALL_AUDITED has
// between colons, which are opened.
std::vector<std::string> libraries() {
  std::vector<std::string> names = {"/libc.so", "/libm.so"};
  const char* const more = std::getenv("WHOCALL_AUDITED");
  std::istringstream given(more == nullptr ? "" : more);
  for (std::string name; std::getline(given, name, ':');) {
    REQUIRE_MESSAGE(dlopen(name.c_str(), RTLD_NOW) != nullptr, name);
    names.push_back(std::move(name));
  }
  return names;
}

TEST_CASE("code: what code says is what tables say, of all calls in the C library") {
  for (const std::string& name : libraries()) {
    Library library{.name = name};
    dl_iterate_phdr(visit, &library);
    if (!library.is_found || library.tables.header == 0) {
      continue;
    }
    Count count;
    for (const rules::FrameDescription& function : functions_of(library)) {
      compare(library, function, count);
    }
    MESSAGE(name, ": ", count.same, " the same, ", count.unknown, " not known, ", count.wrong,
            " wrong");
    CHECK(count.same > 1000);
    CHECK(count.unknown * 2 < count.same);
    CHECK(count.wrong * 1000 < count.same);  // one begins as functions do, and is a part of one
  }
}

#endif

#if defined(__x86_64__) && defined(__LP64__)

// All instructions of a function, as the library decodes them.
std::size_t compare_instructions(const Library& library, const rules::FrameDescription& function,
                                 InstructionDecoder& decoder) {
  std::size_t count = 0;
  for (std::uintptr_t at = function.begin; at < function.end; ++count) {
    const std::span code(reinterpret_cast<const std::uint8_t*>(at), function.end - at);
    const CodeStep step = kReader(code.data(), code.size(), at);
    const auto other = decoder.decode(ByteView(std::as_bytes(code), Endian::little), at);
    if (!other) {
      break;  // newer than the library
    }
    CAPTURE(at - library.begin);
    REQUIRE(unsigned{step.size} == unsigned{other->size});
    const bool ends = other->flow == Instruction::Flow::stop;
    CHECK((step.flow == CodeStep::Flow::end || step.flow == CodeStep::Flow::ret) == ends);
    CHECK((step.flow == CodeStep::Flow::ret) == (ends && other->returns));
    if (step.target != 0 && step.flow != CodeStep::Flow::next) {
      CHECK(step.target == other->target);
    }
    at += other->size;
  }
  return count;
}

TEST_CASE("code: x86-64 instructions are as long as the library says, and go where it says") {
  const auto decoder = x86::make_library_decoder(x86::Dialect::x86_64);
  std::size_t count = 0;
  for (const std::string& name : libraries()) {
    Library library{.name = name};
    dl_iterate_phdr(visit, &library);
    for (const auto& function :
         library.is_found ? functions_of(library) : std::vector<rules::FrameDescription>{}) {
      count += compare_instructions(library, function, *decoder);
    }
  }
  MESSAGE(count, " instructions");
  CHECK(count > 100000);
}

#endif

// Code that lies in an array, its first byte at the array's own address.
std::size_t of_array(void* end, std::uintptr_t address, std::size_t wanted) {
  return std::min(wanted, reinterpret_cast<std::uintptr_t>(end) - address);
}

TEST_CASE("code: AArch64 frames that are too large for an instruction") {
  alignas(4) std::uint32_t code[] = {
      0xd28a000c,  // mov x12, #20480
      0xf2a0002c,  // movk x12, #1, lsl #16
      0xcb2c63ff,  // sub sp, sp, x12
      0xa9017bfd,  // stp x29, x30, [sp, #16]
      0x94000000,  // bl
      0xd4200000,  // brk
  };
  const auto begin = reinterpret_cast<std::uintptr_t>(code);
  const FrameRule rule = runtime::rule_by_code({.begin = begin,
                                                .end = begin + sizeof code,
                                                .place = begin + 20,
                                                .has_link = true,
                                                .word = 8,
                                                .step = aarch64::read_step,
                                                .readable = of_array,
                                                .reader = std::end(code)});
  CHECK(rule.cfa == FrameRule::Cfa::from_sp);
  CHECK(rule.cfa_offset == 86016);
  CHECK(rule.return_slot == 24 - 86016);
  CHECK(rule.fp_slot == 16 - 86016);
}

TEST_CASE("code: no reader looks beyond the bytes that it is given") {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const std::size_t size = random() % (kLongestStep + 1);
    const auto bytes = std::make_unique<std::uint8_t[]>(size);  // its end is guarded by sanitizers
    for (std::size_t at = 0; at < size; ++at) {
      bytes[at] = static_cast<std::uint8_t>(random() % 4 == 0 ? 0x0f + random() % 3 : random());
    }
    CHECK(x86::read_step(bytes.get(), size, kAt).size <= size);
    CHECK(aarch64::read_step(bytes.get(), size, kAt).size <= size);
  }
}

}  // namespace
}  // namespace whocall::test
