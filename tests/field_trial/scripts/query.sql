set jit = on
set jit_above_cost = 0
set jit_inline_above_cost = 0
set jit_optimize_above_cost = 0
create or replace function down(n int) returns float as $$ begin if n = 0 then return (select sum(sqrt(a) + a * 1.1 + length(md5(a::text))) from generate_series(1, 30000) a where a % 7 <> 3); end if; return down(n - 1) + 1; end $$ language plpgsql
select sum(x) from (select down(12) + a as x from generate_series(1, 100000) a) s
