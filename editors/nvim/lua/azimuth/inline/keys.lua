--- The keys for suggestions. Most of them are mapped only while a suggestion is on the screen. At all other times a
--- key does what it did without us, whatever it is mapped to, and no matter who maps it or when.

local config = require("azimuth.config")
local snippets = require("azimuth.inline.snippets")

local M = {}

---@alias azimuth.inline.Action "accept"|"word"|"line"|"next"|"prev"|"dismiss"|"invoke"

---@class azimuth.inline.Key
---@field action azimuth.inline.Action
---@field plug string
---@field desc string

---@type azimuth.inline.Key[]
M.keys = {
  { action = "accept", plug = "<Plug>(AzimuthInlineAccept)", desc = "accept the suggestion" },
  { action = "word", plug = "<Plug>(AzimuthInlineWord)", desc = "accept a word of the suggestion" },
  { action = "line", plug = "<Plug>(AzimuthInlineLine)", desc = "accept a line of the suggestion" },
  { action = "next", plug = "<Plug>(AzimuthInlineNext)", desc = "next suggestion" },
  { action = "prev", plug = "<Plug>(AzimuthInlinePrev)", desc = "previous suggestion" },
  { action = "dismiss", plug = "<Plug>(AzimuthInlineDismiss)", desc = "dismiss the suggestion" },
  { action = "invoke", plug = "<Plug>(AzimuthInlineInvoke)", desc = "suggest text here" },
}

---@class azimuth.inline.Mapped
---@field lhs string
---@field desc string
---@field before? table<string, any> The buffer's own mapping that was there before.

---@type integer?
local mapped_in = nil
---@type table<string, azimuth.inline.Mapped> By action.
local mapped = {}
---@type string? The key that is mapped all the time.
local invoke = nil

---@param action azimuth.inline.Action
---@return boolean done
local function run(action)
  return require("azimuth.inline")[action]()
end

---@param lhs string
---@return boolean
function M.is_tab(lhs)
  return vim.api.nvim_replace_termcodes(lhs, true, true, true) == "\t"
end

--- True if Tab in the current buffer is mapped to nothing, or only to Neovim's own jump in snippets.
---@return boolean
function M.is_tab_free()
  local own = mapped.accept
  if own and own.before and M.is_tab(own.lhs) then
    return false
  end
  local maps = vim.list_extend(vim.api.nvim_buf_get_keymap(0, "i"), vim.api.nvim_get_keymap("i"))
  return not vim.iter(maps):any(function(map)
    local desc = map.desc or ""
    return M.is_tab(map.lhs) and not vim.startswith(desc, "vim.snippet") and not (own and desc == own.desc)
  end)
end

--- The key of an action, if it has one that may be mapped. Except for accepting, a default never takes a key that is
--- in use.
---@param action azimuth.inline.Action
---@return string?
local function key_of(action)
  local keys = config.values.mappings and config.values.inline.keys or {}
  local lhs = keys[action]
  if not lhs or lhs == "" then
    return nil
  elseif action ~= "accept" and lhs == config.defaults.inline.keys[action] and vim.fn.maparg(lhs, "i") ~= "" then
    return nil
  end
  return lhs
end

---@param action string
local function unmap_one(action)
  local one = mapped[action]
  mapped[action] = nil
  vim.api.nvim_buf_call(mapped_in, function()
    local now = vim.fn.maparg(one.lhs, "i", false, true)
    -- Whoever has mapped it since may keep it.
    if now.buffer ~= 1 or now.desc ~= one.desc then
      return
    end
    vim.keymap.del("i", one.lhs, { buffer = mapped_in })
    if one.before then
      vim.fn.mapset("i", false, one.before)
    end
  end)
end

--- Gives all keys back that are mapped while a suggestion is shown.
function M.unmap()
  for action in pairs(mapped) do
    if vim.api.nvim_buf_is_valid(mapped_in) then
      unmap_one(action)
    end
  end
  mapped, mapped_in = {}, nil
end

--- True if Tab is a snippet's here: of one that is being filled in, or of a plugin that the user's own Tab is for.
---@param lhs string
---@return boolean
local function is_for_snippet(lhs)
  if not M.is_tab(lhs) then
    return false
  elseif snippets.is_active() then
    return true
  end
  local is_chosen = vim.tbl_get(config.given, "inline", "keys", "accept") ~= nil
  return not is_chosen and not M.is_tab_free() and snippets.would_act()
end

--- Runs the action of a mapped key. If there is nothing for it to do after all, the key does what it did before.
---@param key azimuth.inline.Key
---@param lhs string
local function press(key, lhs)
  if is_for_snippet(lhs) or not run(key.action) then
    M.unmap()
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(lhs, true, true, true), "im", false)
  end
end

--- Maps the keys in a buffer that shows a suggestion.
---@param bufnr integer
---@param has_tab boolean False if Tab is for something else here: the menu, or the indentation.
function M.map(bufnr, has_tab)
  if mapped_in and mapped_in ~= bufnr then
    M.unmap()
  end
  mapped_in = bufnr
  for _, key in ipairs(M.keys) do
    local one = mapped[key.action]
    if one and not has_tab and M.is_tab(one.lhs) then
      unmap_one(key.action)
    end
    local lhs = key.action ~= "invoke" and not one and key_of(key.action)
    if lhs and (has_tab or not M.is_tab(lhs)) then
      local before = vim.fn.maparg(lhs, "i", false, true)
      local desc = "Azimuth: " .. key.desc
      vim.keymap.set("i", lhs, function()
        press(key, lhs)
      end, { buffer = bufnr, nowait = true, silent = true, desc = desc })
      mapped[key.action] = { lhs = lhs, desc = desc, before = before.buffer == 1 and before or nil }
    end
  end
end

--- Makes the mappings that are there all the time: the names, and the key that asks for a suggestion.
function M.set()
  M.unmap()
  for _, key in ipairs(M.keys) do
    vim.keymap.set("i", key.plug, function()
      run(key.action)
    end, { silent = true, desc = "Azimuth: " .. key.desc })
  end
  if invoke then
    pcall(vim.keymap.del, "i", invoke)
  end
  invoke = key_of("invoke")
  if invoke then
    local options = { silent = true, remap = true, desc = "Azimuth: suggest text here" }
    vim.keymap.set("i", invoke, "<Plug>(AzimuthInlineInvoke)", options)
  end
end

return M
