with recursive n(x) as (select 1 union all select x + 1 from n where x < 2000000)
select a.x % 97, group_concat(replace(printf('%d-%s', a.x, hex(a.x)), '1', 'z')) over (order by a.x % 31 rows 3 preceding),
  (select count(*) from n b where b.x < 50 and b.x % 7 = a.x % 7 and cast(b.x as text) like '%' || (a.x % 10) || '%')
from n a order by a.x % 1009, 2;
