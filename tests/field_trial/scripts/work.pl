% Recursion that no last call ends, through findall and atoms. It never ends.
leaf(N, L) :- findall(X, (between(1, 60, I), X is (I * 7919 + N) mod 101), Xs),
    msort(Xs, S), length(S, A), number_codes(123456, C), length(C, B), L is A + B.
down(0, L) :- !, leaf(7, L).
down(N, L) :- 0 is N mod 2, !, M is N - 1, findall(X, down(M, X), [Y|_]), L is Y + 1.
down(N, L) :- M is N - 1, call(down, M, X), L is X + 1.
between_(L, _, L).
forever :- repeat, down(60, _), fail.
:- initialization(forever).
