--- The card of a handover, which replaces the earlier part of the conversation. Pure.

local blocks = require("azimuth.render.block")
local text = require("azimuth.text")

local put, header, markdown = blocks.put, blocks.header, blocks.markdown

---@param entry azimuth.Entry
---@return azimuth.Block
return function(entry)
  local into = blocks.new()
  local made = entry.compaction
  if entry.how_changed == "taken_back" then
    header(into, "The handover is taken back", "AzimuthDim")
    put(into, "")
    return into
  end
  header(into, "A handover replaces the earlier part of the conversation", "AzimuthAgent")
  put(into, ("%s tokens instead of %s"):format(text.count(made.after), text.count(made.before)), "AzimuthDim")
  put(into, ":Azimuth handover corrects its notes, :Azimuth handover undo takes it back", "AzimuthHint")
  put(into, "")
  if vim.trim(entry.text) == "" then
    put(into, "No model wrote notes for it.", "AzimuthDim")
  else
    put(into, entry.how_changed == "corrected" and "Your notes:" or "Notes by the model:", "AzimuthDim")
    put(into, "")
    markdown(into, entry.text, true)
  end
  put(into, "")
  local first = #into.lines
  put(into, "The facts, from the log", "AzimuthDim")
  put(into, "")
  markdown(into, made.facts, true)
  put(into, "")
  into.fold = { first = first, last = #into.lines - 1 }
  return into
end
