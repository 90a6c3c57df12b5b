--- The reasons of the editor's own for which nothing is suggested. Those that are about the text are the server's.

local client = require("azimuth.client")
local config = require("azimuth.config")
local keys = require("azimuth.inline.keys")
local menus = require("azimuth.inline.menu")
local others = require("azimuth.inline.others")
local snippets = require("azimuth.inline.snippets")
local text = require("azimuth.text")

local M = {}

--- The switch for all buffers; nil until the user has used it.
---@type boolean?
local switch = nil
--- The time until which the user has paused suggestions, in milliseconds of `vim.uv.now`.
local snoozed_until = 0
---@class azimuth.inline.Found
---@field at integer The time, in milliseconds of `vim.uv.now`.
---@field name? string

--- The other plugin that shows text in a buffer.
---@type table<integer, azimuth.inline.Found>
local other_in = {}
--- The milliseconds after which it is looked for again: some are loaded only when the user types.
local LOOK_AGAIN = 2000

---@return azimuth.Config.Inline
local function options()
  return config.values.inline
end

-- The switches ------------------------------------------------------------------------------------------------------

---@return boolean
function M.is_on()
  if switch == nil then
    return options().enabled
  end
  return switch
end

---@param on boolean
function M.turn(on)
  switch = on
  snoozed_until = 0
end

---@param minutes number
function M.snooze(minutes)
  snoozed_until = vim.uv.now() + minutes * 60000
end

--- The minutes for which suggestions are still paused; nil if they are not.
---@return integer?
function M.snoozed()
  -- The clock of the loop stands while Lua runs.
  vim.uv.update_time()
  local left = snoozed_until - vim.uv.now()
  return left > 0 and math.ceil(left / 60000) or nil
end

--- The reason for which the user does not want suggestions now; nil if there is none.
---@return string?
function M.switched_off()
  local minutes = M.snoozed()
  if not M.is_on() then
    return "Suggestions are off. :Azimuth inline on turns them on."
  end
  return minutes and ("Suggestions are paused for %s more."):format(text.plural(minutes, "minute")) or nil
end

-- The place ---------------------------------------------------------------------------------------------------------

--- True while the keys of several cursors are played.
---@param bufnr integer
---@return boolean
function M.has_cursors(bufnr)
  if vim.b[bufnr].visual_multi then
    return true
  end
  local plugin = package.loaded["multicursor-nvim"]
  local ok, has = pcall(function()
    return type(plugin) == "table" and plugin.hasCursors()
  end)
  return ok and has == true
end

--- True if a snippet is being filled in that leaves no room for suggestions.
---@param is_invoked boolean True if the user asks by a key.
---@return boolean
function M.has_snippet(is_invoked)
  return not is_invoked and not options().in_snippets and snippets.is_active()
end

--- True if a file type is not switched off.
---@param filetype string
---@return boolean
local function has_filetype(filetype)
  local filetypes = options().filetypes
  local chosen = filetypes[filetype]
  if chosen == nil then
    chosen = filetypes["*"]
  end
  return chosen ~= false
end

--- Looks for another plugin that shows text at the cursor.
---@param bufnr integer
---@return string? name
function M.other(bufnr)
  if options().force then
    return nil
  end
  local found, now = other_in[bufnr], vim.uv.now()
  if not found or now - found.at > LOOK_AGAIN then
    found = { at = now, name = others.found(bufnr) }
    other_in[bufnr] = found
  end
  return found.name
end

---@param bufnr integer
function M.forget(bufnr)
  other_in[bufnr] = nil
end

--- The reason for which a buffer has no suggestions at all, as a sentence; nil if it has them.
---@param bufnr integer
---@return string?
function M.closed(bufnr)
  local server = client.lsp_client()
  local window = vim.fn.bufwinid(bufnr)
  if not server then
    return "The server is not running. :Azimuth starts it."
  elseif not client.is_document(bufnr) then
    return "This buffer is not a file."
  elseif not vim.lsp.buf_is_attached(bufnr, server.id) then
    return "The server does not know this file."
  elseif vim.b[bufnr].azimuth_inline == false then
    return "Suggestions are off in this buffer: b:azimuth_inline is false."
  elseif vim.b[bufnr].azimuth_inline ~= true and not has_filetype(vim.bo[bufnr].filetype) then
    return ("Suggestions are off for the file type %s in the settings."):format(vim.bo[bufnr].filetype)
  elseif vim.bo[bufnr].readonly or not vim.bo[bufnr].modifiable then
    return "This buffer is read-only."
  elseif window > 0 and vim.wo[window].diff then
    return "This window shows a diff."
  end
  local other = M.other(bufnr)
  return other and ("%s suggests text here. The setting `inline.force` has both shown."):format(other) or nil
end

--- The reason for which the editor is busy with something that a suggestion would disturb; nil if it is not.
---@param is_invoked boolean
---@return string?
local function busy(is_invoked)
  if vim.fn.reg_recording() ~= "" or vim.fn.reg_executing() ~= "" then
    return "A macro is being recorded or played."
  elseif M.has_cursors(vim.api.nvim_get_current_buf()) then
    return "There are several cursors."
  elseif vim.fn.getcurpos()[4] > 0 then
    return "The cursor is where there is no text."
  elseif M.has_snippet(is_invoked) then
    return "A snippet is being filled in."
  end
  local menu = menus.open()
  if menu and (menu.is_unclear or options().menu == "hide") then
    return "The completion menu is open."
  end
end

--- The reason for which no text is suggested at the cursor of the current buffer just now; nil if there is none.
---@param is_invoked boolean True if the user asks by a key: the switches do not hold then.
---@return string?
function M.silent(is_invoked)
  local bufnr = vim.api.nvim_get_current_buf()
  if not vim.startswith(vim.api.nvim_get_mode().mode, "i") then
    return "Suggestions come in insert mode."
  elseif not is_invoked and M.switched_off() then
    return M.switched_off()
  end
  return busy(is_invoked) or M.closed(bufnr)
end

-- Edits -------------------------------------------------------------------------------------------------------------

--- True in normal and in insert mode, and not while an operator waits for its motion.
---@return boolean
function M.is_mode_of_edits()
  local mode = vim.api.nvim_get_mode().mode
  return mode == "n" or vim.startswith(mode, "i") or vim.startswith(mode, "ni")
end

--- The reason for which no edit is suggested in a buffer at all; nil if one is.
---@param bufnr integer
---@return string?
function M.closed_to_edits(bufnr)
  local why = M.closed(bufnr)
  local other = not why and not options().force and others.editing(bufnr)
  return other and ("%s suggests edits here. The setting `inline.force` has both shown."):format(other) or why
end

--- The reason for which the user does not want edits now; nil if there is none.
---@return string?
function M.edits_switched_off()
  if not options().edits.enabled then
    return "Suggested edits are off in the settings: `inline.edits.enabled`."
  end
  return M.switched_off()
end

--- The reason for which no edit is suggested in the current buffer just now; nil if there is none.
---@param is_invoked boolean True if the user asks by a key: the switches do not hold then.
---@return string?
function M.silent_on_edits(is_invoked)
  if not M.is_mode_of_edits() then
    return "Edits are suggested in normal and in insert mode."
  end
  local off = not is_invoked and M.edits_switched_off() or nil
  return off or busy(is_invoked) or M.closed_to_edits(vim.api.nvim_get_current_buf())
end

--- True if Tab in insert mode is for nobody else: no snippet and no completion menu.
---@return boolean
function M.has_tab()
  local menu = menus.open()
  return not snippets.is_active() and (not menu or (not menu.entry and keys.is_tab_free()))
end

return M
