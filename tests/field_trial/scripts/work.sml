fun leaf n = String.size (String.concatWith " " (List.tabulate (60, fn x => Int.toString (x * 7919 + n))))
           + Word.toInt (Word.andb (0wxff, Word.fromInt n)) + IntInf.log2 (IntInf.pow (7, 300));
fun down 0 = leaf 7
  | down n = if n mod 2 = 0 then 1 + List.foldl (fn (x, _) => down (x - 1)) 0 [n]
             else 1 + hd (List.map (fn x => down (x - 1) handle Overflow => 0) [n]);
fun forever () = (down 60; forever ());
forever ();
