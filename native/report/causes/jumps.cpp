#include "report/causes/jumps.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hex.h"
#include "report/causes/faults.h"
#include "report/causes/null_origin.h"

namespace whocall {
namespace {

bool may_be_a_jump(const Scene& scene) { return scene.signal_is({"SIGSEGV", "SIGBUS", "SIGILL"}); }

// ` (the text "AAAAAAAA")` for a word that is text, else nothing.
std::string word_text(Address value, unsigned size, Endian endian) {
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    const unsigned at = endian == Endian::big ? size - 1 - i : i;
    const char letter = static_cast<char>(value >> (8 * at) & 0xff);
    if (letter < 0x20 || letter > 0x7e) {
      return {};
    }
    text += letter;
  }
  return " (the text \"" + text + "\")";
}

std::string described(const Scene& scene) {
  const Address pc = scene.pc();
  if (const Mapping* const mapping = scene.image().mapping_at(pc)) {
    const std::string what = mapping->path.empty() ? "memory without a file" : mapping->path;
    // Else it only might have been.
    const std::string known =
        mapping->executable ? std::string() : " (" + permissions(*mapping) + ")";
    return hex(pc) + ", in " + what + known + ", which is not executable";
  }
  if (pc < kNearNull) {
    return pc == 0 ? "address 0" : hex(pc) + ", close to null";
  }
  return hex(pc) + word_text(pc, scene.arch().abi.pointer_size, scene.arch().abi.endian) +
         ", where no code is";
}

// What a call that has just been made left as its return address, and where it is.
std::optional<ShownAddress> return_address_of_call(const Scene& scene) {
  if (const auto link = scene.link_register()) {
    return ShownAddress{*link, "the register " + std::string(scene.link_name())};
  }
  const auto word = scene.word_at(scene.sp());
  return word ? std::optional(
                    ShownAddress{*word, "the word at the stack pointer, " + hex(scene.sp())})
              : std::nullopt;
}

// Where the return address of a call is that has just led to pc; empty where none has.
std::string place_of_call(const Scene& scene) {
  const auto caller = scene.frame(1);
  const auto kept = return_address_of_call(scene);
  if (!caller || !kept || caller->frame().pc != kept->address ||
      caller->frame().trust == Trust::scan) {
    return {};
  }
  return scene.may_have_called(kept->address, scene.pc()) ? kept->proof : std::string();
}

// Whether a return led to pc, where that is known, and where it took that from.
struct Returned {
  std::optional<bool> is_so;
  std::string proof{};
};

// A zero below the stack pointer proves nothing: fresh stack is full of them.
Returned returned(const Scene& scene) {
  const Address pc = scene.pc();
  const Address size = scene.arch().registers.size;
  if (scene.link_register() == pc) {
    return {true, "the link register, from which a return takes it, is the same"};
  }
  // Returns may take their address right off the stack: x86's do, and ARM's pop.
  const bool by_stack = scene.arch().frame.pushed_by_call != 0 || scene.arch().family == "arm";
  if (!by_stack) {
    return {scene.link_register() ? std::optional(false) : std::nullopt};
  }
  // i386's functions that return a structure take its address off the stack too (`ret 4`).
  const std::size_t places = scene.arch().name == "i386" ? 2 : 1;
  for (std::size_t i = 1; i <= places; ++i) {
    const Address place = scene.sp() - i * size;
    const auto below = scene.word_at(place);
    if (below && scene.without_mode(*below) == pc) {
      return pc < kNearNull
                 ? Returned{std::nullopt}
                 : Returned{true,
                            "the word that a return has just taken off the stack at " + hex(place)};
    }
  }
  const bool is_sure = scene.arch().name == "x86_64" || scene.arch().name == "x32";
  return {is_sure ? std::optional(false) : std::nullopt};
}

}  // namespace

std::optional<Fact> jump_to_no_code(const Scene& scene) {
  const Address pc = scene.pc();
  if (!may_be_a_jump(scene) || scene.was_sent() || !scene.is_nowhere() ||
      scene.walk().size() == 0) {
    return std::nullopt;
  }
  if (const auto& fault = scene.fault();
      fault && fault->address - pc >= kLongestFetch && pc - fault->address >= kLongestFetch) {
    return std::nullopt;
  }
  const std::string where = described(scene);
  const bool null = pc < kNearNull && scene.image().mapping_at(pc) == nullptr;
  const std::string counter = "the program counter is " + hex(pc);
  const auto caller = scene.frame(1);
  const CalledPointer pointer = called_pointer(scene);
  if (const std::string place = place_of_call(scene); !place.empty() && !pointer.led_elsewhere) {
    return Fact{null ? "null-call" : "wild-call",
                named(*caller) + " called " + where +
                    (pc == 0 && null ? ", a null function pointer" + pointer.origin : ""),
                counter + ", and the return address of that call is in " + place};
  }
  const Returned back = returned(scene);
  if (back.is_so == true) {
    const bool and_so = null || scene.link_register() == pc;
    return Fact{"smashed-return",
                "a function returned to " + where + ": its return address was overwritten" +
                    (null ? ", or it had none" : ""),
                counter + (and_so ? ", and " : ", ") + back.proof};
  }
  const bool unsure = !back.is_so && null;
  return Fact{"wild-jump",
              "control went to " + where +
                  (unsure            ? ", by a pointer to a function or by a return"
                   : pc == 0 && null ? ", a null function pointer"
                                     : ""),
              counter};
}

std::optional<Fact> return_to_no_code(const Scene& scene) {
  std::string_view text = scene.instruction();
  constexpr std::string_view kBounded = "bnd ";
  text.remove_prefix(text.starts_with(kBounded) ? kBounded.size() : 0);
  if (!is_x86(scene.arch()) || text.substr(0, text.find(' ')) != "ret" || !may_be_a_jump(scene) ||
      scene.code().value_or(kFromKernel) != kFromKernel) {
    return std::nullopt;
  }
  const auto word = scene.word_at(scene.sp());
  if (!word || scene.is_canonical(*word)) {
    return std::nullopt;
  }
  const auto frame = scene.frame(0);
  return Fact{"smashed-return",
              (frame ? named(*frame) : "the function") + " was to return to " + hex(*word) +
                  word_text(*word, scene.arch().registers.size, scene.arch().abi.endian) +
                  ", where no code is: its return address was overwritten",
              "the instruction is `" + scene.instruction() +
                  "`, and the word at the stack pointer, " + hex(scene.sp()) + ", is that"};
}

}  // namespace whocall
