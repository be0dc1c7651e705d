-module(work).
-export([start/0]).

leaf(N) ->
    Text = lists:flatten([io_lib:format("~p ", [X * 7919]) || X <- lists:seq(N, N + 60)]),
    length(re:replace(Text, "[0-9]+", "x", [global, {return, list}])) + erlang:crc32(Text).

down(0) -> leaf(7);
down(N) when N rem 2 =:= 0 -> hd(lists:map(fun(X) -> down(X - 1) + 1 end, [N]));
down(N) -> 1 + lists:foldl(fun(X, _) -> down(X) end, 0, [N - 1]).

forever() -> down(60), forever().

start() -> spawn(fun forever/0), forever().
