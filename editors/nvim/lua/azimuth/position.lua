--- Positions in a line: bytes, as Neovim counts, and characters, as a language client does.

local M = {}

local is_011 = vim.fn.has("nvim-0.11") == 1

--- The bytes of a line before a character.
---@param encoding string The client's.
---@param line string
---@param character integer
---@return integer
function M.byte(encoding, line, character)
  if encoding == "utf-8" then
    return math.min(character, #line)
  elseif is_011 then
    return vim.str_byteindex(line, encoding, character, false)
  end
  local ok, index = pcall(vim.str_byteindex, line, character, encoding == "utf-16")
  return ok and index or #line
end

--- The characters of a line before a byte.
---@param encoding string The client's.
---@param line string
---@param col integer
---@return integer
function M.character(encoding, line, col)
  col = math.min(col, #line)
  if encoding == "utf-8" then
    return col
  elseif is_011 then
    return vim.str_utfindex(line, encoding, col, false)
  end
  local utf32, utf16 = vim.str_utfindex(line, col)
  return encoding == "utf-16" and utf16 or utf32
end

return M
