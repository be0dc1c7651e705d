#include "runtime/crash/report_record.h"

#include <ctime>

#include <cstring>

#include "runtime/crash/annotations.h"
#include "runtime/crash/signals.h"
#include "runtime/debug_files.h"
#include "runtime/machine.h"
#include "runtime/mapped_modules.h"
#include "runtime/readable.h"

namespace whocall::runtime {
namespace {

constexpr std::size_t kMostStack = 1024;  // bytes of a stack
constexpr std::size_t kLongestTold = 1024;

std::size_t path_size(const Module& module) {
  const std::size_t size = std::strlen(path_of(module));
  return size < kLongestTold ? size : kLongestTold;
}

std::size_t size_of(const Module& module) {
  return sizeof(ModuleBody) + build_id(module).size + path_size(module);
}

std::size_t in_record(std::size_t body) {
  return sizeof(SectionHeader) + ((body + 7) & ~std::size_t{7});
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  constexpr std::uint64_t kSecond = 1'000'000'000;  // nanoseconds
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void ReportRecord::begin(const Crash& crash, std::size_t room, std::uint64_t sequence) {
  module_count_ = 0;
  writer_.begin(bytes_.data(), room < kMost ? room : kMost);
  RecordHeader& header = writer_.header();
  header.sequence = sequence;
  header.time = now();
  header.process = static_cast<std::uint32_t>(crash.process);
  header.thread = static_cast<std::uint32_t>(crash.thread);
  header.signal = static_cast<std::uint32_t>(crash.signal);
  header.code = crash.info.si_code;
  header.fault_address = was_sent(crash.info.si_code) || crash.is_question
                             ? 0
                             : reinterpret_cast<std::uintptr_t>(crash.info.si_addr);
  header.flags |= crash.is_question ? std::uint16_t{record_question} : std::uint16_t{0};
  const char* const path = path_of({});
  const std::size_t size = std::strlen(path);
  if (void* const body = writer_.add(SectionKind::program, size)) {
    std::memcpy(body, path, size);
  }
}

std::size_t ReportRecord::room_for_modules() const {
  std::size_t size = 0;
  for (std::size_t i = 0; i < module_count_; ++i) {
    size += in_record(size_of(modules_.data()[i]));
  }
  return size;
}

std::uint16_t ReportRecord::module_of(std::uintptr_t lookup) {
  Module module;
  if (!find_module(lookup, module) && !find_mapped_module(lookup, module)) {
    return kNoModule;
  }
  for (std::size_t i = 0; i < module_count_; ++i) {
    if (modules_.data()[i].begin == module.begin) {
      return static_cast<std::uint16_t>(i);
    }
  }
  // The dynamic linker's own list may be what is damaged.
  if (!readable(reinterpret_cast<std::uintptr_t>(module.path))) {
    module.path = "?";
  }
  if (module_count_ == kMostModules ||
      room_for_modules() + in_record(size_of(module)) > writer_.room()) {
    writer_.header().flags |= record_cut;
    return kNoModule;
  }
  modules_.data()[module_count_] = module;
  return static_cast<std::uint16_t>(module_count_++);
}

void ReportRecord::add_thread(pid_t thread, const Registers& registers, const char* name,
                              const StackFrames& frames) {
  const std::uint32_t flags = writer_.header().thread == static_cast<std::uint32_t>(thread)
                                  ? std::uint32_t{thread_crashed}
                                  : 0U;
  // Which modules there are, to know what room is left for frames.
  for (std::size_t i = 0; i < frames.kept(); ++i) {
    static_cast<void>(module_of(frames[i].lookup_address()));
  }
  const std::size_t fixed =
      in_record(sizeof(ThreadBody) + Registers::kCount * sizeof(std::uint64_t));
  const std::size_t taken = fixed + room_for_modules();
  const std::size_t fits =
      taken < writer_.room() ? (writer_.room() - taken) / sizeof(FrameBody) : 0;
  const std::size_t count = fits < frames.kept() ? fits : frames.kept();
  std::size_t outermost = frames.outermost();
  if (count < frames.kept()) {
    writer_.header().flags |= record_cut;
    outermost = count / 4;
  }
  auto* const body = static_cast<ThreadBody*>(writer_.add(
      SectionKind::thread,
      sizeof(ThreadBody) + Registers::kCount * sizeof(std::uint64_t) + count * sizeof(FrameBody)));
  if (body == nullptr) {
    return;
  }
  body->thread = static_cast<std::uint32_t>(thread);
  body->flags = flags;
  std::memcpy(body->name, name, strnlen(name, sizeof body->name - 1));
  body->registers = Registers::kCount;
  body->frames = static_cast<std::uint32_t>(count);
  body->all_frames = static_cast<std::uint32_t>(frames.all());
  body->outermost = static_cast<std::uint32_t>(outermost);
  body->end = static_cast<std::uint32_t>(frames.end());
  auto* const values = reinterpret_cast<std::uint64_t*>(body + 1);
  for (std::size_t i = 0; i < Registers::kCount; ++i) {
    values[i] = registers[i];
  }
  auto* const listed = reinterpret_cast<FrameBody*>(values + Registers::kCount);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = i < count - outermost ? i : i + frames.kept() - count;
    const KeptFrame& frame = frames[place];
    listed[i] = {.address = frame.address,
                 .module = module_of(frame.lookup_address()),
                 .trust = static_cast<std::uint8_t>(frame.trust),
                 .flags = frame.exact ? std::uint8_t{frame_exact} : std::uint8_t{0},
                 .zero = 0};
  }
}

void ReportRecord::add_silent(pid_t thread, const char* name) {
  if (room_for_modules() + in_record(sizeof(ThreadBody)) > writer_.room()) {
    writer_.header().flags |= record_cut;
    return;
  }
  auto* const body = static_cast<ThreadBody*>(writer_.add(SectionKind::thread, sizeof(ThreadBody)));
  if (body != nullptr) {
    body->thread = static_cast<std::uint32_t>(thread);
    body->flags = thread_silent;
    std::memcpy(body->name, name, strnlen(name, sizeof body->name - 1));
  }
}

void ReportRecord::add_sender(const Crash& crash) {
  if (!tells_sender(crash.info.si_code)) {
    return;
  }
  if (void* const body = writer_.add(SectionKind::sender, sizeof(SenderBody))) {
    const SenderBody sender{.process = static_cast<std::uint32_t>(crash.info.si_pid),
                            .user = static_cast<std::uint32_t>(crash.info.si_uid)};
    std::memcpy(body, &sender, sizeof sender);
  }
}

void ReportRecord::add_annotations() {
  for_each_annotation(
      [](const char* key, const char* value, void* to) {
        auto& self = *static_cast<ReportRecord*>(to);
        const std::size_t key_size = std::strlen(key) + 1;
        const std::size_t size = key_size + std::strlen(value);
        if (self.room_for_modules() + in_record(size) > self.writer_.room()) {
          self.writer_.header().flags |= record_cut;
          return;
        }
        if (void* const body = self.writer_.add(SectionKind::annotation, size)) {
          std::memcpy(body, key, key_size);
          std::memcpy(static_cast<char*>(body) + key_size, value, size - key_size);
        }
      },
      this);
}

void ReportRecord::add_stack(const ucontext_t& context) {
  constexpr std::uintptr_t kPiece = 256;  // bytes: parts of pages
  const std::uintptr_t begin = point_of(context).sp & ~(kPiece - 1);
  const std::size_t taken = room_for_modules() + in_record(sizeof(std::uint64_t));
  const std::size_t room = taken < writer_.room() ? writer_.room() - taken : 0;
  std::size_t size = 0;
  while (size + kPiece <= kMostStack && size + kPiece <= room && readable(begin + size)) {
    size += kPiece;
  }
  void* const body =
      size == 0 ? nullptr : writer_.add(SectionKind::stack, sizeof(std::uint64_t) + size);
  if (body != nullptr) {
    const std::uint64_t address = begin;
    std::memcpy(body, &address, sizeof address);
    std::memcpy(static_cast<std::byte*>(body) + sizeof address,
                reinterpret_cast<const void*>(begin), size);
  }
}

void ReportRecord::put_modules() {
  for (std::size_t i = 0; i < module_count_; ++i) {
    const Module& module = modules_.data()[i];
    const BuildId id = build_id(module);
    const std::size_t path = path_size(module);
    auto* const body = static_cast<ModuleBody*>(writer_.add(SectionKind::module, size_of(module)));
    if (body == nullptr) {
      return;
    }
    *body = {.begin = module.begin,
             .end = module.end,
             .bias = module.bias,
             .build_id_size = static_cast<std::uint16_t>(id.size),
             .path_size = static_cast<std::uint16_t>(path),
             .zero = 0};
    auto* const behind = reinterpret_cast<std::byte*>(body + 1);
    std::memcpy(behind, id.bytes, id.size);
    std::memcpy(behind + id.size, path_of(module), path);
  }
}

std::size_t ReportRecord::finish() {
  put_modules();
  return writer_.finish();
}

}  // namespace whocall::runtime
