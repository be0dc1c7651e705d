#include "base/error.h"

#include <utility>

namespace whocall {
namespace {

std::string sentence(const std::string& path, const std::string& reason,
                     const std::string& remedy) {
  std::string text = path + ": " + reason;
  if (!remedy.empty()) {
    text += ". " + remedy;
  }
  return text;
}

}  // namespace

Error::Error(std::string path, std::string reason, std::string remedy)
    : std::runtime_error(sentence(path, reason, remedy)),
      path_(std::move(path)),
      reason_(std::move(reason)),
      remedy_(std::move(remedy)) {}

}  // namespace whocall
