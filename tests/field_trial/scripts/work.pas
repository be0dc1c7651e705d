program work;
{$mode objfpc}{$H+}
uses sysutils, classes;
type TStep = function(n: integer): integer;
var step: TStep;
function leaf(n: integer): integer;
var list: TStringList; i: integer;
begin
  list := TStringList.Create;
  try
    for i := 1 to 60 do list.Add(Format('%d-%s', [i * 7919 mod 101, FloatToStr(i / n)]));
    list.Sort;
    result := length(list.Text);
  finally
    list.Free;
  end;
end;
function down(n: integer): integer;
function through(f: TStep; n: integer): integer;
begin
  try
    result := f(n) + 1;
  except
    on e: Exception do result := 0;
  end;
end;
begin
  if n = 0 then result := leaf(7) else result := through(step, n - 1);
end;
begin
  step := @down;
  while true do down(60);
end.
