// An inverted index of words.
#include "textidx.h"

#include <cstring>

void Index::add(const std::string &word, int document, int position) {
  auto &head = heads_[word];
  if (head == nullptr) words_.push_back(word);
  head = new Posting{document, position, head};
}

const Posting *Index::postings(const std::string &word) const {
  auto found = heads_.find(word);
  return found == heads_.end() ? nullptr : found->second;
}

int Index::frequency(const std::string &word) const { 
  int count = 0;
  for (const Posting *each = heads_.at(word); each != nullptr; each = each->next) count++;
  return count;
}

void read_sample(Index &index, unsigned seed) {
  const char *text[] = {"the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs"};
  for (unsigned i = 0; i < 40 + seed % 10; i++)
    index.add(text[(i * 7 + seed) % 8], static_cast<int>(i / 8), static_cast<int>(i));
}

// Bug of whoever has no word.
bool is_stop_word(const char *word) {
  static const char *const stop[] = {"a", "an", "the", "of"};
  for (const char *each : stop)
    if (std::strcmp(each, word) == 0) return true;
  return false;
}
