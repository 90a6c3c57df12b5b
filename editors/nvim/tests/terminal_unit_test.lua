--- The part of a program's output that reaches the emulator.

local filter = require("azimuth.terminal.filter")
local support = require("support")

local T = {}

---@param bytes string
---@param at_keyboard? boolean
local function whole(bytes, at_keyboard)
  return filter.new():feed(bytes, at_keyboard or false)
end

--- The same, cut at every place, and into single bytes.
---@param bytes string
---@param wanted string
---@param at_keyboard? boolean
local function always(bytes, wanted, at_keyboard)
  support.equal(whole(bytes, at_keyboard), wanted, vim.inspect(bytes))
  for cut = 1, #bytes - 1 do
    local one = filter.new()
    local got = one:feed(bytes:sub(1, cut), at_keyboard or false) .. one:feed(bytes:sub(cut + 1), at_keyboard or false)
    support.equal(got, wanted, ("%s cut at %d"):format(vim.inspect(bytes), cut))
  end
  local one, got = filter.new(), ""
  for at = 1, #bytes do
    got = got .. one:feed(bytes:sub(at, at), at_keyboard or false)
  end
  support.equal(got, wanted, vim.inspect(bytes) .. " byte by byte")
end

function T.text_colours_and_broken_characters_pass()
  always("a\27[1;31mred\27[0m\r\n\27[2J\27(B\27=\255\0é", "a\27[1;31mred\27[0m\r\n\27[2J\27(B\27=\255\0é")
end

function T.strings_are_left_out()
  always("a\27]52;c;aGVsbG8=\7b", "ab")
  always("a\27]0;title\27\\b", "ab")
  always("a\27]8;;http://x\27\\link\27]8;;\27\\b", "alinkb")
  always("a\27P+q544e\27\\b\27_Gx\27\\c\27^pm\27\\d\27Xsos\27\\e", "abcde")
  always("a\27]52;broken\24b\27]52;broken\26c", "abc")
  always("a\27]52;c;x\27[31mb", "a\27[31mb")
end

function T.strings_cannot_be_smuggled()
  always("a\27\27]52;c;x\7b", "ab")
  always("a\27\0]52;c;x\7b", "ab")
  always("a\27[3\27]52;c;x\7b", "ab")
  always("a\27]0;x\27]52;c;y\7b", "ab")
end

function T.questions_are_left_out_unless_the_user_is_at_the_keyboard()
  for _, question in ipairs({ "\27[6n", "\27[?6n", "\27[5n", "\27[c", "\27[>c", "\27[0c", "\27[?25$p", "\27[>q", "\27[18t", "\27[?u", "\27[x" }) do
    always("a" .. question .. "b", "ab")
    always("a" .. question .. "b", "a" .. question .. "b", true)
  end
  always("a\27Zb", "ab")
  always("a\27[6\0nb", "ab")
end

function T.a_sequence_without_end_is_not_kept_for_ever()
  local one = filter.new()
  support.equal(one:feed("\27[" .. ("1;"):rep(100000), false), "")
  assert(#one.held < 300)
  support.equal(one:feed("mab", false), "mab")
end

return T
