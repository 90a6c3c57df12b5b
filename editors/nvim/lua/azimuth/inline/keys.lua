--- The keys for suggestions. Most of them are mapped only while a suggestion is on the screen. At all other times a
--- key does what it did without us, whatever it is mapped to, and no matter who maps it or when.

local config = require("azimuth.config")
local snippets = require("azimuth.inline.snippets")

local M = {}

---@alias azimuth.inline.Kind "ghost"|"edit"
---@alias azimuth.inline.Action "accept"|"word"|"line"|"next"|"prev"|"dismiss"|"invoke"|azimuth.inline.EditAction
---@alias azimuth.inline.EditAction
---| "go"
---| "accept_hunk"
---| "accept_edit"
---| "reject_hunk"
---| "reject_edit"
---| "next_hunk"
---| "ask_edit"

---@class azimuth.inline.Key
---@field action azimuth.inline.Action
---@field plug string
---@field desc string
---@field kind azimuth.inline.Kind
---@field always? "i"|"n" The mode in which it is mapped all the time.

---@type azimuth.inline.Key[]
M.keys = {
  { kind = "ghost", action = "accept", plug = "<Plug>(AzimuthInlineAccept)", desc = "accept the suggestion" },
  { kind = "ghost", action = "word", plug = "<Plug>(AzimuthInlineWord)", desc = "accept a word of the suggestion" },
  { kind = "ghost", action = "line", plug = "<Plug>(AzimuthInlineLine)", desc = "accept a line of the suggestion" },
  { kind = "ghost", action = "next", plug = "<Plug>(AzimuthInlineNext)", desc = "next suggestion" },
  { kind = "ghost", action = "prev", plug = "<Plug>(AzimuthInlinePrev)", desc = "previous suggestion" },
  { kind = "ghost", action = "dismiss", plug = "<Plug>(AzimuthInlineDismiss)", desc = "dismiss the suggestion" },
  { kind = "ghost", action = "invoke", plug = "<Plug>(AzimuthInlineInvoke)", desc = "suggest text here", always = "i" },
  { kind = "edit", action = "go", plug = "<Plug>(AzimuthEditGo)", desc = "go to the next edit, then accept it" },
  { kind = "edit", action = "accept_hunk", plug = "<Plug>(AzimuthEditAcceptHunk)", desc = "accept the suggested hunk" },
  { kind = "edit", action = "accept_edit", plug = "<Plug>(AzimuthEditAccept)", desc = "accept the suggested edit" },
  { kind = "edit", action = "reject_hunk", plug = "<Plug>(AzimuthEditRejectHunk)", desc = "reject the suggested hunk" },
  { kind = "edit", action = "reject_edit", plug = "<Plug>(AzimuthEditReject)", desc = "reject the suggested edit" },
  { kind = "edit", action = "next_hunk", plug = "<Plug>(AzimuthEditNext)", desc = "next suggested hunk" },
  { kind = "edit", action = "ask_edit", plug = "<Plug>(AzimuthEditAsk)", desc = "suggest an edit", always = "n" },
}

--- Ghost text comes first: it is at the cursor.
---@type azimuth.inline.Kind[]
local KINDS = { "ghost", "edit" }

---@class azimuth.inline.Mapped
---@field bufnr integer
---@field mode "i"|"n"
---@field lhs string
---@field desc string
---@field keys azimuth.inline.Key[] Each is tried in turn.
---@field is_taken boolean True if the key was mapped to something before.
---@field before? table<string, any> The buffer's own mapping that was there before.

---@class azimuth.inline.KeysShown
---@field bufnr integer
---@field mode "i"|"n"
---@field has_tab boolean

--- The suggestions on the screen.
---@type table<azimuth.inline.Kind, azimuth.inline.KeysShown>
local shown = {}
--- The keys that are mapped while something is, by buffer, mode and key.
---@type table<string, azimuth.inline.Mapped>
local mapped = {}
--- Those that are mapped all the time.
---@type { mode: string, lhs: string }[]
local always = {}

--- True for the actions whose key takes the one of another mapping.
---@type table<azimuth.inline.Action, true>
local FIRST = { accept = true, go = true }

---@param action azimuth.inline.Action
---@return boolean done
local function run(action)
  return require("azimuth.inline")[action]()
end

---@param lhs string
---@return string
local function typed(lhs)
  return vim.api.nvim_replace_termcodes(lhs, true, true, true)
end

---@param lhs string
---@return boolean
function M.is_tab(lhs)
  return typed(lhs) == "\t"
end

---@param bufnr integer
---@param mode string
---@param lhs string
---@return string
local function name(bufnr, mode, lhs)
  return ("%d %s %s"):format(bufnr, mode, typed(lhs))
end

--- True if Tab in the current buffer is mapped to nothing, or only to Neovim's own jump in snippets.
---@return boolean
function M.is_tab_free()
  local own = mapped[name(vim.api.nvim_get_current_buf(), "i", "<Tab>")]
  if own and own.before then
    return false
  end
  local maps = vim.list_extend(vim.api.nvim_buf_get_keymap(0, "i"), vim.api.nvim_get_keymap("i"))
  return not vim.iter(maps):any(function(map)
    local desc = map.desc or ""
    return M.is_tab(map.lhs) and not vim.startswith(desc, "vim.snippet") and not (own and desc == own.desc)
  end)
end

--- The key of an action, if it has one.
---@param action azimuth.inline.Action
---@return string?
local function key_of(action)
  local keys = config.values.mappings and config.values.inline.keys or {}
  local lhs = keys[action]
  return lhs and lhs ~= "" and lhs or nil
end

--- True if a key may be mapped. Except for those of Tab, a default never takes a key that is in use.
---@param action azimuth.inline.Action
---@param lhs string
---@param is_taken boolean
---@return boolean
local function may_map(action, lhs, is_taken)
  return FIRST[action] or not is_taken or lhs ~= config.defaults.inline.keys[action]
end

---@param bufnr integer
---@param mode string
---@param lhs string
---@return table<string, any>
local function mapping_of(bufnr, mode, lhs)
  return vim.api.nvim_buf_call(bufnr, function()
    return vim.fn.maparg(lhs, mode, false, true)
  end)
end

---@param id string
local function unmap(id)
  local one = mapped[id]
  mapped[id] = nil
  if not one or not vim.api.nvim_buf_is_valid(one.bufnr) then
    return
  end
  local now = mapping_of(one.bufnr, one.mode, one.lhs)
  -- Whoever has mapped it since may keep it.
  if now.buffer ~= 1 or now.desc ~= one.desc then
    return
  end
  vim.keymap.del(one.mode, one.lhs, { buffer = one.bufnr })
  if one.before then
    vim.api.nvim_buf_call(one.bufnr, function()
      vim.fn.mapset(one.mode, false, one.before)
    end)
  end
end

--- True if Tab is a snippet's here: of one that is being filled in, or of a plugin that the user's own Tab is for.
---@param one azimuth.inline.Mapped
---@param action azimuth.inline.Action
---@return boolean
local function is_for_snippet(one, action)
  if one.mode ~= "i" or not M.is_tab(one.lhs) then
    return false
  elseif snippets.is_active() then
    return true
  end
  local is_chosen = vim.tbl_get(config.given, "inline", "keys", action) ~= nil
  return not is_chosen and not M.is_tab_free() and snippets.would_act()
end

--- Runs what a key is mapped to. If there is nothing for it to do after all, the key does what it did before.
---@param id string
---@param lhs string
local function press(id, lhs)
  local one = mapped[id]
  for _, key in ipairs(one and one.keys or {}) do
    if not is_for_snippet(one, key.action) and run(key.action) then
      return
    end
  end
  unmap(id)
  vim.api.nvim_feedkeys(typed(lhs), "im", false)
end

---@param id string
---@param want { bufnr: integer, mode: string, lhs: string, key: azimuth.inline.Key }
local function map(id, want)
  local before = mapping_of(want.bufnr, want.mode, want.lhs)
  local is_taken = not vim.tbl_isempty(before)
  if not may_map(want.key.action, want.lhs, is_taken) then
    return
  end
  local desc = "Azimuth: " .. want.key.desc
  vim.keymap.set(want.mode, want.lhs, function()
    press(id, want.lhs)
  end, { buffer = want.bufnr, nowait = true, silent = true, desc = desc })
  mapped[id] = {
    bufnr = want.bufnr,
    mode = want.mode,
    lhs = want.lhs,
    desc = desc,
    keys = { want.key },
    is_taken = is_taken,
    before = before.buffer == 1 and before or nil,
  }
end

--- Maps the keys for what is on the screen, and gives the others back.
local function sync()
  local wanted, order = {}, {}
  for _, kind in ipairs(KINDS) do
    local now = shown[kind]
    for _, key in ipairs(now and M.keys or {}) do
      local lhs = key.kind == kind and not key.always and key_of(key.action)
      if lhs and (now.has_tab or not M.is_tab(lhs)) then
        local want = { bufnr = now.bufnr, mode = now.mode, lhs = lhs, key = key }
        local id = name(want.bufnr, want.mode, lhs)
        wanted[id] = wanted[id] or {}
        table.insert(wanted[id], want)
        table.insert(order, id)
      end
    end
  end
  for id in pairs(mapped) do
    if not wanted[id] then
      unmap(id)
    end
  end
  for _, id in ipairs(order) do
    local one = mapped[id]
    if one then
      one.keys = {}
    end
    for _, want in ipairs(wanted[id]) do
      if not mapped[id] then
        map(id, want)
      elseif may_map(want.key.action, want.lhs, mapped[id].is_taken) and mapped[id].keys[1] ~= want.key then
        table.insert(mapped[id].keys, want.key)
      end
    end
  end
end

--- Maps the keys in a buffer that shows a suggestion.
---@param kind azimuth.inline.Kind
---@param bufnr integer
---@param mode "i"|"n"
---@param has_tab boolean False if Tab is for something else here: the menu, or the indentation.
function M.show(kind, bufnr, mode, has_tab)
  shown[kind] = { bufnr = bufnr, mode = mode, has_tab = has_tab }
  sync()
end

--- Gives the keys back that are mapped while a suggestion is shown.
---@param kind azimuth.inline.Kind
function M.hide(kind)
  if shown[kind] then
    shown[kind] = nil
    sync()
  end
end

--- The key of an action as the user is told of it; nil if it is not mapped.
---@param action azimuth.inline.Action
---@return string?
function M.told(action)
  local lhs = key_of(action)
  return lhs and (lhs:match("^<([^<>]+)>$") or lhs)
end

--- Makes the mappings that are there all the time: the names, and the keys that ask for a suggestion.
function M.set()
  shown = {}
  sync()
  for _, key in ipairs(M.keys) do
    vim.keymap.set(key.kind == "edit" and { "n", "i" } or "i", key.plug, function()
      run(key.action)
    end, { silent = true, desc = "Azimuth: " .. key.desc })
  end
  for _, one in ipairs(always) do
    pcall(vim.keymap.del, one.mode, one.lhs)
  end
  always = {}
  for _, key in ipairs(M.keys) do
    local lhs = key.always and key_of(key.action)
    if lhs and may_map(key.action, lhs, vim.fn.maparg(lhs, key.always) ~= "") then
      vim.keymap.set(key.always, lhs, key.plug, { silent = true, remap = true, desc = "Azimuth: " .. key.desc })
      table.insert(always, { mode = key.always, lhs = lhs })
    end
  end
end

return M
