--- The completion menu: Neovim's own, nvim-cmp's or blink.cmp's.

local M = {}

---@class azimuth.inline.Entry
---@field first integer The bytes of the cursor's line before what the entry replaces, which ends at the cursor.
---@field text string

---@class azimuth.inline.Menu
---@field entry? azimuth.inline.Entry The entry that is selected.
---@field is_unclear boolean True if one is selected, but not in a way that a suggestion could go on from.

--- The word of the entry that is selected in Neovim's own menu.
---@type string?
local word = nil

--- Finds the text before the cursor that a word replaces: the word itself if the menu has inserted it, or its
--- beginning.
---@param before string The line up to the cursor.
---@param entry string
---@return azimuth.inline.Entry?
function M.located(before, entry)
  for length = math.min(#entry, #before), 1, -1 do
    if before:sub(-length) == entry:sub(1, length) then
      return { first = #before - length, text = entry }
    end
  end
end

--- A part of another plugin, if it is loaded. A menu of one that is not cannot be open.
---@param name string
---@return table
local function part(name)
  local module = package.loaded[name]
  return type(module) == "table" and module or {}
end

--- The menus of plugins. A function returns nil if the menu is closed, and true if the user has gone to an entry, or
--- if the menu shows text at the cursor itself. It may raise an error, as the parts of a plugin may change at any
--- time.
---@type (fun(): boolean?)[]
local plugins = {
  function()
    local cmp = part("cmp")
    if cmp.visible() then
      local settings = part("cmp.config")
      local shows_text = settings.get and vim.tbl_get(settings.get(), "experimental", "ghost_text")
      return cmp.get_active_entry() ~= nil or (shows_text or false) ~= false
    end
  end,
  function()
    if part("blink.cmp").is_visible() then
      local shows_text = vim.tbl_get(part("blink.cmp.config"), "completion", "ghost_text", "enabled")
      return part("blink.cmp.completion.list").is_explicitly_selected == true or shows_text == true
    end
  end,
}

---@type table? The nvim-cmp that tells us of its menu.
local heard = nil

--- Calls back when a menu of a plugin opens or closes, which Neovim has no event for.
---@param callback fun()
function M.listen(callback)
  local cmp = part("cmp")
  if cmp ~= heard and type(cmp.event) == "table" then
    heard = cmp
    for _, event in ipairs({ "menu_opened", "menu_closed" }) do
      pcall(cmp.event.on, cmp.event, event, callback)
    end
  end
end

--- The menu that is open, if one is.
---@return azimuth.inline.Menu?
function M.open()
  if vim.fn.pumvisible() == 1 then
    if not word then
      return { is_unclear = false }
    end
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    local entry = M.located(before, word)
    return { entry = entry, is_unclear = not entry }
  end
  for _, plugin in ipairs(plugins) do
    local ok, is_unclear = pcall(plugin)
    if ok and is_unclear ~= nil then
      return { is_unclear = is_unclear }
    end
  end
end

--- Notes the entry that `CompleteChanged` tells of.
function M.note()
  local item = vim.v.event.completed_item
  word = item and item.word ~= "" and item.word or nil
end

--- Forgets it when the menu closes.
function M.forget()
  word = nil
end

return M
