let rec leaf n =
  let text = String.concat " " (List.map string_of_int (List.init (n + 60) (fun x -> x * 7919))) in
  let table = Hashtbl.create 7 in
  String.iter (fun c -> Hashtbl.replace table c (String.length text)) text;
  Printf.sprintf "%d %s" (Hashtbl.length table) (Digest.to_hex (Digest.string text)) |> String.length

and down n =
  if n = 0 then leaf 3
  else if n mod 2 = 0 then List.fold_left (fun _ x -> 1 + down (x - 1)) 0 [ n ]
  else begin
    let found = ref (-1) in
    ignore (List.sort (fun a b -> (try if !found < 0 then found := down (n - 1) with Not_found -> ()); compare a b) [ 3; 1; 2 ]);
    1 + !found
  end

let () = while true do ignore (down 80) done
