#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "object/open_files.h"
#include "process/core/core_file.h"
#include "process/live/live_process.h"
#include "process/modules/link_map.h"
#include "process/modules/loaded_elf.h"
#include "process/proc_files.h"
#include "process/process_image.h"
#include "process_core_builder.h"

using namespace whocall;
using namespace whocall::testing;

namespace {

// A child that does nothing; ends with the test.
class SleepingChild {
 public:
  SleepingChild() : pid_(::fork()) {
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) {
        ::pause();
      }
    }
  }
  SleepingChild(const SleepingChild&) = delete;
  SleepingChild& operator=(const SleepingChild&) = delete;
  ~SleepingChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] char state() const {
    const auto status = read_proc_file("/proc/" + std::to_string(pid_) + "/status");
    const auto state = status_field(status.value_or(""), "State");
    return state.empty() ? '?' : state[0];
  }

 private:
  pid_t pid_;
};

// Containers may forbid ptrace, and qemu-user has none: what asks for it is skipped there, and
// counted as skipped.
bool may_trace() {
  static const bool may = [] {
    const SleepingChild child;
    return ::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr) == 0;
  }();
  return may;
}

const Module* program_of(const ProcessImage& image) {
  for (const Module& module : image.modules) {
    if (module.is_executable) {
      return &module;
    }
  }
  return nullptr;
}

std::string error_of(pid_t pid) {
  try {
    open_process(pid, {});
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

volatile int marker = 4711;

}  // namespace

TEST_CASE("a live process is held still and let go" * doctest::skip(!may_trace())) {
  const SleepingChild child;
  auto image = open_process(child.pid(), {});
  CHECK(child.state() == 't');
  CHECK(image->pid == child.pid());
  REQUIRE(image->threads.size() == 1);
  const Thread& thread = image->threads[0];
  CHECK(thread.lwp == child.pid());
  CHECK(thread.name == "whocall_tests");
  CHECK_FALSE(thread.crashed);
  const auto pc = thread.registers.get(image->arch->registers.pc);
  REQUIRE(pc.has_value());
  CHECK(image->is_code(*pc));
  CHECK(image->module_at(*pc) != nullptr);
  const auto sp = thread.registers.get(image->arch->registers.sp);
  CHECK(image->mapping_at(sp.value_or(0)) != nullptr);
  CHECK(image->memory->read_unsigned(reinterpret_cast<Address>(&marker), 4,
                                     image->arch->abi.endian) == 4711);
  const Module* program = program_of(*image);
  REQUIRE(program != nullptr);
  CHECK(program->state == ModuleState::found);
  CHECK(program->range.contains(reinterpret_cast<Address>(&marker)));
  CHECK(image->warnings.empty());
  image.reset();
  CHECK(child.state() != 't');
}

TEST_CASE("the image may be let go by another thread" * doctest::skip(!may_trace())) {
  const SleepingChild child;
  auto image = open_process(child.pid(), {});
  std::thread([&] { image.reset(); }).join();
  CHECK(child.state() != 't');
}

TEST_CASE("a stopped process stays stopped" * doctest::skip(!may_trace())) {
  const SleepingChild child;
  ::kill(child.pid(), SIGSTOP);
  ::waitpid(child.pid(), nullptr, WUNTRACED);
  open_process(child.pid(), {});
  // It wakes up for a moment, to find that it is to stand still.
  for (int tries = 0; child.state() != 'T' && tries < 1000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(child.state() == 'T');
}

// As those of a process that ends meanwhile.
TEST_CASE("a file of /proc that cannot be read is a miss") {
  CHECK(read_proc_file("/proc/self/status"));
  CHECK_FALSE(read_proc_file("/proc/self/mem"));  // nothing lies at address 0
  CHECK_FALSE(read_proc_file("/proc/self/absent"));
}

TEST_CASE("processes that cannot be opened") {
  CHECK(error_of(0x3ffffff).find("does not exist") != std::string::npos);
  CHECK(error_of(-1).find("does not exist") != std::string::npos);
  const pid_t ended = ::fork();
  if (ended == 0) {
    ::_exit(0);
  }
  siginfo_t info = {};
  ::waitid(P_PID, static_cast<id_t>(ended), &info, WEXITED | WNOWAIT);
  CHECK(error_of(ended).find("has ended") != std::string::npos);
  ::waitpid(ended, nullptr, 0);
}

TEST_CASE("a process under another debugger" * doctest::skip(!may_trace())) {
  const SleepingChild child;
  REQUIRE(::ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr) == 0);
  CHECK(error_of(child.pid()).find("already traced by process " + std::to_string(::getpid())) !=
        std::string::npos);
}

TEST_CASE("the link map names what the mappings name" * doctest::skip(!may_trace())) {
  const SleepingChild child;
  const auto image = open_process(child.pid(), {});
  const Module* program = program_of(*image);
  REQUIRE(program != nullptr);
  const auto loaded = read_loaded_elf(*image->memory, program->range.begin, *image->arch);
  REQUIRE(loaded.has_value());
  const auto entries = read_link_map(*image->memory, *loaded, *image->arch);
  REQUIRE(entries.size() > 2);
  CHECK(entries[0].path.empty());
  CHECK(entries[0].bias == program->bias);
  for (const LinkMapEntry& entry : entries) {
    const Module* module = image->module_at(entry.dynamic);
    REQUIRE(module != nullptr);
    CHECK(module->bias == entry.bias);
  }
  Budget budget("process", 0);
  const auto rebuilt = rebuild_file(*image->memory, *loaded, *image->arch, "rebuilt", budget);
  REQUIRE(rebuilt != nullptr);
  CHECK(rebuilt->build_id() == program->build_id_on_disk);
}

TEST_CASE("a dumped process without NT_FILE shows the same modules" * doctest::skip(!may_trace())) {
  close_kept_files();  // which the child would have mapped as well
  const SleepingChild child;
  const auto live = open_process(child.pid(), {});
  const Architecture& arch = *live->arch;
  CoreBuilder core(arch);
  core.note(NT_PRSTATUS, prstatus(arch, 1, 11, 0x1000, 0x2000));
  const auto auxiliary = read_proc_file("/proc/" + std::to_string(child.pid()) + "/auxv").value();
  Bytes note;
  append(note, auxiliary.data(), auxiliary.size());
  core.note(NT_AUXV, note);
  for (const Mapping& mapping : live->mappings) {
    // The sanitizers reserve terabytes that nobody has written.
    if (!mapping.readable || mapping.range.size() > (64U << 20U)) {
      continue;
    }
    Bytes bytes(mapping.range.size());
    bytes.resize(live->memory->read(mapping.range.begin, bytes));
    const std::uint32_t flags =
        PF_R | (mapping.writable ? PF_W : 0U) | (mapping.executable ? PF_X : 0U);
    core.load(mapping.range.begin, flags, std::move(bytes), mapping.range.size());
  }
  const TemporaryDirectory directory;
  const auto dumped = open_core(directory.write("core", core.build()), {});
  CHECK(dumped->modules.size() == live->modules.size());
  for (const Module& module : live->modules) {
    const Module* same = dumped->module_at(module.range.begin);
    REQUIRE(same != nullptr);
    CHECK(same->bias == module.bias);
    CHECK(same->range == module.range);
    CHECK(same->build_id_in_memory == module.build_id_in_memory);
    CHECK(same->state == module.state);
    CHECK(same->is_executable == module.is_executable);
  }
}

TEST_CASE("rows of /proc/PID/maps") {
  const auto mappings = parse_maps(
      "00400000-00401000 r-xp 00001000 fd:00 12   /a path/with spaces (deleted)\n"
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "nonsense\n"
      "7fff00000000-7fff00001000 rw-p 00000000 00:00 0                          [stack]\n"
      "7fff00002000-7fff00003000 ---s 00000000 00:01 9   /line\\012feed");
  REQUIRE(mappings.size() == 4);
  CHECK(mappings[0].range == AddressRange{0x400000, 0x401000});
  CHECK(mappings[0].path == "/a path/with spaces (deleted)");
  CHECK(mappings[0].offset == 0x1000);
  CHECK(mappings[0].executable);
  CHECK_FALSE(mappings[0].writable);
  CHECK(mappings[1].path.empty());
  CHECK(mappings[2].path.empty());
  CHECK(mappings[3].path == "/line\nfeed");
  CHECK_FALSE(mappings[3].readable);
}
