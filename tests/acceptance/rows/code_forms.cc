// Exceptions in all places that compilers put their landing pads; compiled, never run.
extern int other(int, ...);
extern void hold(void *);
struct Held {
  int number;
  explicit Held(int with) : number(with) { hold(this); }
  ~Held() { hold(&number); }
};
struct Failure { int code; virtual ~Failure(); };

int cleans_up(int a) { Held one(a); Held two(a + 1); return other(one.number, two.number); }
int catches(int a) { try { return other(a); } catch (int code) { return other(code, a); } }
int catches_many(int a) {
  try { Held held(a); a += other(a); if (a == 3) throw a; a += other(a, 2); }
  catch (const Failure &failure) { a += failure.code; }
  catch (const char *text) { a += *text; }
  catch (...) { other(1); throw; }
  return other(a);
}
int nested(int a) {
  try { try { other(a); } catch (int) { Held held(a); other(held.number); throw Failure{}; } }
  catch (Failure &) { return 1; }
  return 0;
}
int loops(int a) { while (a-- > 0) { try { Held held(a); other(a); continue; } catch (int) { break; } } return a; }
int deep(int a) { char room[5000]; Held held(a); hold(room); return other(a, room[a]); }
int variable(int a) { char *room = static_cast<char *>(__builtin_alloca(a)); Held held(a); hold(room); try { return other(*room); } catch (int code) { return code; } }
int many_arguments(int a) { Held held(a); try { return other(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, a); } catch (...) { return other(held.number); } }
void never(int a) noexcept { Held held(a); other(a); }
[[noreturn]] void fails(int a) { if (a) throw Failure{}; Held held(a); throw a; }
int calls_failing(int a) { if (other(a)) fails(a); return other(a + 1); }
