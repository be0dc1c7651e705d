with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Ada.Containers.Ordered_Maps;
procedure Work is
   package Maps is new Ada.Containers.Ordered_Maps (Integer, Unbounded_String);
   type Step is access function (N : Integer) return Integer;
   task type Other;
   function Leaf (N : Integer) return Integer is
      Map : Maps.Map;
      Sum : Integer := 0;
   begin
      for I in 1 .. 60 loop
         Map.Include (I * 7919 mod 101, To_Unbounded_String (Integer'Image (I * N)));
      end loop;
      for Text of Map loop
         Sum := Sum + Length (Text & "x");
      end loop;
      return Sum;
   end Leaf;
   function Down (N : Integer) return Integer;
   function Through (F : Step; N : Integer) return Integer is (F.all (N) + 1);
   function Down (N : Integer) return Integer is
   begin
      if N = 0 then
         return Leaf (7);
      end if;
      return Through (Down'Unrestricted_Access, N - 1);
   exception
      when Constraint_Error => return 0;
   end Down;
   task body Other is
   begin
      loop
         if Down (20) < 0 then exit; end if;
      end loop;
   end Other;
   Second : Other;
begin
   loop
      if Down (60) < 0 then exit; end if;
   end loop;
end Work;
