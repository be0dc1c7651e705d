#include "process/core/core_image.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "arch/signed_pointers.h"
#include "base/error.h"
#include "base/joined_ranges.h"
#include "process/core/core_mappings.h"
#include "process/core/core_notes.h"
#include "process/modules/find_modules.h"
#include "process/modules/module_memory.h"

namespace whocall {
namespace {

constexpr std::string_view kWhereCoresBreak =
    "Look for a full disk or a limit (ulimit -c) where it was written";

void warn_about_truncation(const CoreContents& core, std::vector<std::string>& warnings) {
  if (!core.lack.empty()) {
    warnings.push_back("The core " + core.path + " is truncated: " + core.lack +
                       ", so some memory may be unknown. " + std::string(kWhereCoresBreak) + ".");
  }
}

void warn_about_missing_notes(const CoreNotes& notes, std::vector<std::string>& warnings) {
  if (!notes.has_auxiliary && notes.modules.empty()) {
    warnings.emplace_back(
        "The core has no auxiliary vector (NT_AUXV), so which module is the program is a guess.");
  }
}

// Folklore. Situation: a backtrace ends at its first frame, as the core has the stack's place and
// none of its bytes. Example: a service that was started with coredump_filter 0, so that its cores
// hold no secrets. Remedy: who left the memory out is told, as no file that is searched for helps.
void warn_about_left_out_stacks(const CoreContents& core, const ProcessImage& image,
                                std::vector<std::string>& warnings) {
  std::vector<AddressRange> empty;
  for (const ElfSegment& segment : core.segments) {
    if (segment.type == PT_LOAD && segment.file_size == 0) {
      empty.push_back({segment.address, segment.address + segment.memory_size});
    }
  }
  std::ranges::sort(empty, {}, &AddressRange::begin);
  const auto left_out = [&](const Thread& thread) {
    const auto sp = thread.registers.get(image.arch->registers.sp);
    const auto above = std::ranges::upper_bound(empty, sp.value_or(0), {}, &AddressRange::begin);
    return sp && above != empty.begin() && std::prev(above)->contains(*sp);
  };
  const auto lacking = std::ranges::count_if(image.threads, left_out);
  if (lacking == 0) {
    return;
  }
  const bool all_data = std::ranges::none_of(core.segments, [](const ElfSegment& segment) {
    return segment.type == PT_LOAD && (segment.flags & PF_W) != 0 && segment.file_size != 0;
  });
  const std::string which = image.threads.size() == 1
                                ? "of its thread"
                                : "of " + std::to_string(lacking) + " of its " +
                                      std::to_string(image.threads.size()) + " threads";
  warnings.push_back(
      "The core " + core.path + " was written without the stack " + which +
      (all_data ? ", and without all other memory that the program could write: its "
                  "coredump_filter lacks bit 0. Let the program write the next one with it (echo "
                  "0x33 > /proc/PID/coredump_filter)."
                : ". No file can stand in for that."));
}

// Dumpers that leave all protections out mean nothing by it.
void repair_protections(std::vector<Mapping>& mappings) {
  if (std::ranges::none_of(mappings, &Mapping::executable)) {
    for (Mapping& mapping : mappings) {
      mapping.readable = true;
      mapping.executable = true;
      mapping.permissions_known = false;
    }
  }
}

// Of memory whose mapping is not told: what lies in a module is of the file's protection there, or
// may be code; so may what a thread's program counter stands in, as compiled at run time.
void doubt_protections(ProcessImage& image, std::span<const ToldModule> told) {
  std::vector<AddressRange> ranges;
  for (const ToldModule& module : told) {
    ranges.push_back(module.range);
  }
  const JoinedRanges modules(std::move(ranges));
  std::vector<Address> counters;
  for (const Thread& thread : image.threads) {
    if (const auto pc = thread.registers.get(image.arch->registers.pc); pc) {
      counters.push_back(*pc);
    }
  }
  std::ranges::sort(counters);
  for (Mapping& mapping : image.mappings) {
    if (!mapping.path.empty()) {
      continue;
    }
    const bool in_module = modules.contains(mapping.range.begin);
    const auto next = std::ranges::lower_bound(counters, mapping.range.begin);
    const bool runs = next != counters.end() && mapping.range.contains(*next);
    if (in_module || runs) {
      mapping.executable = true;
      mapping.writable = mapping.writable && !in_module;
      mapping.permissions_known = false;
    }
  }
}

void require_threads(const CoreContents& core, const ProcessImage& image) {
  if (!image.threads.empty()) {
    return;
  }
  const std::string& lack = core.lack;
  throw Error(core.path,
              "has no thread whose registers can be read" +
                  (lack.empty() ? std::string() : ": it is truncated, " + lack),
              lack.empty() ? "Write the core anew: it needs its NT_PRSTATUS notes"
                           : std::string(kWhereCoresBreak) + ", and write it anew");
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

}  // namespace

std::unique_ptr<ProcessImage> image_of_core(CoreContents core, const FileSearch& search) {
  auto image = std::make_unique<ProcessImage>();
  image->arch = core.arch;
  image->core_path = core.path;
  image->source = core.source;
  warn_about_truncation(core, image->warnings);

  CoreNotes notes = read_core_notes(core.notes, *image->arch);
  image->arch = &with_signatures_in(*image->arch, notes.signature_bits);
  image->warnings.insert(image->warnings.end(), notes.warnings.begin(), notes.warnings.end());
  image->threads = std::move(notes.threads);
  require_threads(core, *image);
  if (!notes.segments.empty()) {
    core.segments = std::move(notes.segments);
  }
  warn_about_left_out_stacks(core, *image, image->warnings);
  warn_about_missing_notes(notes, image->warnings);
  image->pid = notes.pid != 0 ? notes.pid : image->threads.front().lwp;
  image->mappings = core_mappings(core.segments, notes.files);
  image->partial_map = notes.partial_map;
  if (notes.partial_map) {
    doubt_protections(*image, notes.modules);
  } else {
    repair_protections(image->mappings);
  }

  image->command_line = std::move(notes.command_line);
  const std::string& called = image->command_line.text;
  const std::string program = called.empty() ? notes.name : first_word(called);
  const ProcessEvidence evidence{*image->arch, *core.memory, image->mappings, notes.auxiliary,
                                 program,      {},           notes.modules};
  find_modules(*image, evidence, {search, 0, {}});
  put_memory(*image, std::move(core.memory));
  return image;
}

}  // namespace whocall
