#include "symbols/inferred/registration_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/hex.h"
#include "symbols/discovery/data_words.h"
#include "symbols/inferred/python_owners.h"
#include "symbols/inferred/record_tables.h"

namespace whocall {
namespace {

constexpr std::uint64_t kMethodSize = 4;  // words of PyMethodDef: name, function, flags, text

// Python's own library, or what is loaded into it.
bool is_of_python(const SymbolTable& table, const DataWords& words) {
  const auto is_pythons = [](std::string_view name) {
    return name.starts_with("PyType_") || name.starts_with("PyModule") ||
           name.starts_with("PyErr_") || name.starts_with("_Py_");
  };
  return std::ranges::any_of(words.imports(),
                             [&](const auto& each) { return is_pythons(each.second); }) ||
         std::ranges::any_of(table.symbols(),
                             [&](const Symbol& each) { return is_pythons(each.name); });
}

struct Registration {
  std::string text;
  std::string proof;
  std::set<Address> places{};  // of the words that lead there, in tables
  bool is_owned = false;       // by a type or a module, which say so
};

class Registered {
 public:
  explicit Registered(const NameEvidence& evidence)
      : evidence_(evidence),
        words_(evidence.file),
        records_(evidence.file, evidence.arch, words_) {}

  void run(std::vector<InferredName>& names) {
    const std::vector<RecordTable> tables = record_tables(records_);
    if (is_of_python(evidence_.table, words_)) {
      read_python(tables);
    } else {
      for (const RecordTable& table : tables) {
        put_rows(table, {});
      }
    }
    for (auto& [function, name] : found_) {
      const bool is_alone = name.is_owned || records_.count_of(function) == name.places.size();
      if (!name.text.empty() && is_alone && is_start(function)) {
        names.push_back(
            {function, std::move(name.text), NameSource::registration, std::move(name.proof)});
      }
    }
  }

 private:
  void read_python(const std::vector<RecordTable>& tables) {
    const PythonOwners owners(evidence_.file, words_, records_);
    for (const RecordTable& table : tables) {
      const bool has_methods = table.size == kMethodSize * records_.word() &&
                               table.offset == static_cast<std::int64_t>(records_.word());
      put_rows(table, has_methods ? owners.owner_of(table.begin) : std::string_view());
    }
    for (const auto& [function, name] : owners.slots()) {
      put(function, name, {}).is_owned = true;
    }
  }

  void put_rows(const RecordTable& table, std::string_view owner) {
    for (const RecordRow& row : table.rows) {
      if (row.function != 0 && is_registered_name(row.text)) {
        const std::string text(row.text);
        const Address place = table.begin + (&row - table.rows.data()) * table.size +
                              static_cast<Address>(table.offset);
        const std::string proof = "the table at " + hex(table.begin);
        if (owner.empty()) {
          put(row.function, "registered[" + text + "]", proof).places.insert(place);
        } else {
          put(row.function, std::string(owner) + "." + text, proof).is_owned = true;
        }
      }
    }
  }

  // Under several names: none.
  Registration& put(Address function, const std::string& name, const std::string& proof) {
    const auto [known, is_new] = found_.try_emplace(function, Registration{name, proof});
    if (!is_new && known->second.text != name) {
      known->second.text.clear();
    }
    return known->second;
  }

  bool is_start(Address function) {
    const std::uint32_t at = evidence_.table.find(function);
    const auto symbols = evidence_.table.symbols();
    if (at < symbols.size() && symbols[at].range.begin == function) {
      return true;
    }
    return evidence_.starts().evidence_at(function).is_function();
  }

  const NameEvidence& evidence_;
  DataWords words_;
  RecordWords records_;
  std::map<Address, Registration> found_{};
};

}  // namespace

void infer_registration_names(const NameEvidence& evidence, std::vector<InferredName>& names) {
  Registered(evidence).run(names);
}

}  // namespace whocall
