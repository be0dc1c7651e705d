#pragma once
#include <map>
#include <string>
#include <vector>

struct Posting {
  int document, position;
  Posting *next;
};

class Index {
 public:
  void add(const std::string &word, int document, int position);
  const Posting *postings(const std::string &word) const;
  int frequency(const std::string &word) const;
  const std::vector<std::string> &words() const { return words_; }

 private:
  std::map<std::string, Posting *> heads_;
  std::vector<std::string> words_;
};

void read_sample(Index &index, unsigned seed);
bool is_stop_word(const char *word);
