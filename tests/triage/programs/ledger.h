#pragma once
struct account {
  char name[24];
  long balance;
  int frozen;
  struct account *next;
  struct owner *owner;
};
struct owner {
  char title[40];
  int rank;
  struct account *main_account;
};
struct account *find_account(const char *name);
struct account *add_account(const char *name, long opening);
long interest(long amount, int basis_points);
void load_sample(unsigned seed);
