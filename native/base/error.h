// The one exception of the native core: opening or parsing something failed.
#pragma once

#include <stdexcept>
#include <string>

namespace whocall {

// Says which file, what is wrong with it, and what the user can do. Thrown while opening and
// parsing only; once a process image stands, a miss is a value (an empty optional, a stop reason).
class Error : public std::runtime_error {
 public:
  Error(std::string path, std::string reason, std::string remedy = {});

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const std::string& remedy() const { return remedy_; }  // may be empty

 private:
  std::string path_;
  std::string reason_;
  std::string remedy_;
};

}  // namespace whocall
