--- The filter between a program's output and the terminal emulator. Pure.
---
--- Output is watched by every client of a session, and kept to be shown again. So two kinds of escapes are left out:
--- strings (OSC, DCS, APC, PM, SOS), by which output could set the clipboard, titles and links; and, unless the user is at
--- the terminal's keyboard, questions to the emulator, whose answers would be typed into the shell by each view.

local M = {}

---@class azimuth.terminal.Filter
---@field held string The beginning of an escape whose rest is still to come.
---@field inside boolean Whether a string has begun that has not ended.
local Filter = {}
Filter.__index = Filter

--- Control characters inside an escape are carried out by an emulator, and do not end it.
local CONTROLS = "[%z\1-\23\25\28-\31\127]*"
local BODY = "^[%z\1-\23\25\28-\63\127]*"
--- No sequence is longer than this. The beginning of one that would be is left out.
local MAX_HELD = 256

---@return azimuth.terminal.Filter
function M.new()
  return setmetatable({ held = "", inside = false }, Filter)
end

--- True if a control sequence asks the emulator for an answer, or would change more than what it shows.
---@param body string Between the introducer and the last character.
---@param final string
---@return boolean
local function asks(body, final)
  body = body:gsub("[%c]", "")
  return final == "n"
    or final == "c"
    or final == "x"
    or final == "t"
    or (final == "p" and body:find("$", 1, true) ~= nil)
    or (final == "q" and body:find("^>") ~= nil)
    or (final == "u" and body:find("^%?") ~= nil)
    or (final == "m" and body:find("^%?") ~= nil)
    or (final == "w" and body:find("$", 1, true) ~= nil)
    or (final == "y" and body:find("*", 1, true) ~= nil)
end

--- Takes output in, and gives what may be shown of it by now. Escapes may be split anywhere.
---@param bytes string
---@param at_keyboard boolean Whether the user types in this terminal, so that its questions are for this view.
---@return string
function Filter:feed(bytes, at_keyboard)
  bytes = self.held .. bytes
  self.held = ""
  local out, at = {}, 1
  while at <= #bytes do
    if self.inside then
      local stop = bytes:find("[\7\24\26\27]", at)
      if not stop then
        break
      elseif bytes:byte(stop) ~= 27 then
        self.inside = false
        at = stop + 1
      elseif stop == #bytes then
        self.held = "\27"
        break
      else
        self.inside = false
        at = bytes:sub(stop + 1, stop + 1) == "\\" and stop + 2 or stop
      end
    else
      local escape = bytes:find("\27", at, true)
      table.insert(out, bytes:sub(at, (escape or #bytes + 1) - 1))
      if not escape then
        break
      end
      local _, last = bytes:find("^" .. CONTROLS, escape + 1)
      local kind = bytes:sub(last + 1, last + 1)
      if kind == "" then
        self.held = "\27"
        break
      elseif kind == "\27" then
        at = last + 1
      elseif kind:find("[%]PX%^_]") then
        self.inside = true
        at = last + 2
      elseif kind == "[" then
        local _, stop = bytes:find(BODY, last + 2)
        local final = bytes:sub(stop + 1, stop + 1)
        if final == "" and #bytes - escape < MAX_HELD then
          self.held = bytes:sub(escape)
          break
        elseif not final:find("^[@-~]$") then
          -- It is broken off, or no sequence at all.
          at = math.max(stop + 1, last + 2)
        else
          if at_keyboard or not asks(bytes:sub(last + 2, stop), final) then
            table.insert(out, bytes:sub(escape, stop + 1))
          end
          at = stop + 2
        end
      elseif kind == "Z" and not at_keyboard then
        at = last + 2
      else
        table.insert(out, "\27" .. kind)
        at = last + 2
      end
    end
  end
  return table.concat(out)
end

return M
