// What a function does with what its caller may have left for it, by position, and which parameters
// that shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "arguments/argument_place.h"
#include "arguments/value_state.h"

namespace whocall {

struct Parameter {
  ArgumentPlace place{};
  std::uint8_t size = 0;   // bytes that are read; 0: it is not, but a later one is
  bool is_signed = false;  // they are widened with their sign
};

struct Parameters {
  // By position, of integers and pointers. One that no instruction reads cannot be told from none,
  // so that there may be fewer than there are.
  std::vector<Parameter> list;
  bool variadic = false;  // and it may get more
};

class ArgumentUse {
 public:
  ArgumentUse(const RegisterFile& file, CallConvention called)
      : registers(file),
        convention(called),
        places(file, called),
        read(places.count()),
        copied(read.size()) {}

  // Of code that may be called as Linux or as Windows has it: whether it uses what only Linux hands
  // over in registers, pushes all of that and does not use it, or neither.
  [[nodiscard]] bool uses_what_windows_keeps() const;
  [[nodiscard]] bool pushes_what_windows_keeps() const;

  // A miss where no conventions tell of it.
  [[nodiscard]] std::optional<Parameters> parameters() const;

  const RegisterFile& registers;
  CallConvention convention;
  ArgumentPlaces places;
  std::vector<std::uint8_t> read;               // by position: bytes that are used
  std::vector<std::uint8_t> copied;             // bytes that are copied to other registers
  std::map<std::size_t, std::int64_t> saved;    // by position: where on the stack
  std::set<std::size_t> pushed;                 // by a push
  std::set<std::size_t> used;                   // otherwise
  std::set<std::size_t> reloaded;               // from there
  std::set<std::size_t> is_signed;              // widened with their sign
  std::map<std::size_t, std::uint8_t> foreign;  // read as no integer, so many bytes
  ExposedWords exposed;                         // words of the stack that others may write

 private:
  [[nodiscard]] bool is_windows() const { return convention == CallConvention::windows; }
  [[nodiscard]] std::vector<std::size_t> kept_by_windows() const;
  [[nodiscard]] std::uint8_t size_of(std::size_t position) const;
  void append_those_on_stack(Parameters& found) const;
  [[nodiscard]] std::optional<std::size_t> first_unnamed() const;
  [[nodiscard]] bool is_saved_only(std::size_t position) const;
  [[nodiscard]] bool is_at_home(std::size_t position) const;
};

}  // namespace whocall
