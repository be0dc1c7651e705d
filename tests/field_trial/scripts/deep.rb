require 'json'
def leaf(n)
  text = JSON.generate((1..60).map { |x| { "a" => x } })
  text.gsub(/\d+/) { |m| (m.to_i * 2).to_s }.length + JSON.parse(text).length
end
def down(n)
  return leaf(3) if n == 0
  return [n].map { |x| down(x - 1) + 1 }.first if n.odd?
  found = nil
  [3, 1, 2].sort { |a, b| found ||= down(n - 1); a <=> b }
  found + 1
end
Thread.new { loop { down(10) } }
loop { down(40) }
