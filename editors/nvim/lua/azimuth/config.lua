--- The options that the user can set, and where the plugin keeps its own files.

local M = {}

---@class azimuth.Config
---@field cmd? string[] The server and its arguments; without it, `bin/azimuth` of the plugin, then `azimuth` in PATH.
---@field autostart boolean Start the server with the first file, not with the first command.
---@field root_markers string[] What marks the top of a project. Without a mark above it, the current folder is the project.
---@field init_options? table What the server gets as `initializationOptions`.
---@field trust? boolean Whether the folders that are opened are trusted; without it, the server asks, once for each.
---@field mappings boolean Whether the default mappings are made.
---@field prefix string What the default mappings begin with.
---@field chat azimuth.Config.Chat
---@field permission azimuth.Config.Permission
---@field notices azimuth.Config.Notices
---@field follow boolean Whether a window shows the file and the line that the agent looks at.
---@field inline azimuth.Config.Inline

---@class azimuth.Config.Chat
---@field position "right"|"left" The side of the chat.
---@field width number Columns; below 1, a part of the editor's width.
---@field input_height integer Lines of the input window.
---@field while_running "steer"|"queue" What a prompt that is sent while a turn runs becomes.
---@field popup boolean Whether completion opens by itself after `/` and `@`.

---@class azimuth.Config.Permission
---@field float boolean Whether a question opens a small window; it stands in the transcript either way.

---@class azimuth.Config.Notices
---@field enabled boolean Whether you are told, while the editor has no focus, that the agent asks or is done.
---@field terminal false|"bell"|"osc9" Whether the terminal is told too: by its bell, or by a notification (OSC 9).

---@class azimuth.Config.Inline
---@field enabled boolean True if text is suggested while you type. If not, the key `invoke` still asks for it.
---@field display "ghost"|"sign" The text of a suggestion at once, or only a sign until the key `invoke` is pressed.
---@field menu "beside"|"hide" The rule for a suggestion while a completion menu is open.
---@field in_snippets boolean True if text is suggested while a snippet is being filled in.
---@field filetypes table<string, boolean> False for the file types without suggestions; `*` means all others.
---@field force boolean True if text is suggested although another plugin does so, too.
---@field edits azimuth.Config.Edits
---@field keys table<azimuth.inline.Action, string|false> The keys; false for none.

---@class azimuth.Config.Edits
---@field enabled boolean True if edits are suggested while you work. If not, the key `ask_edit` still asks for one.
---@field display "text"|"sign" A suggested edit at once, or only signs until the key `ask_edit` is pressed.

---@type azimuth.Config
M.defaults = {
  cmd = nil,
  autostart = false,
  root_markers = { ".azimuth", ".git", ".hg", ".jj" },
  init_options = nil,
  trust = nil,
  mappings = true,
  prefix = "<leader>a",
  chat = {
    position = "right",
    width = 0.4,
    input_height = 5,
    while_running = "steer",
    popup = true,
  },
  permission = { float = true },
  notices = { enabled = true, terminal = false },
  follow = false,
  inline = {
    enabled = true,
    display = "ghost",
    menu = "beside",
    in_snippets = false,
    filetypes = {},
    force = false,
    edits = { enabled = true, display = "text" },
    -- No letters with Alt: in a terminal they cannot be told from Esc and a letter that follows it quickly.
    keys = {
      accept = "<Tab>",
      word = "<M-Right>",
      line = "<M-Down>",
      -- The server suggests one text at a time today, so there is nothing to go through.
      next = false,
      prev = false,
      dismiss = "<M-Left>",
      invoke = "<M-Up>",
      -- Those of edits, in normal and insert mode.
      go = "<Tab>",
      accept_hunk = "<M-Right>",
      accept_edit = "<M-S-Right>",
      reject_hunk = "<M-Left>",
      reject_edit = "<M-S-Left>",
      next_hunk = "<M-Down>",
      ask_edit = "<M-Up>",
    },
  },
}

---@type azimuth.Config
M.values = vim.deepcopy(M.defaults)

--- The settings that the user has named.
---@type table
M.given = {}

---@param options? table What the user gave to `setup`.
function M.set(options)
  M.given = options or {}
  M.values = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), M.given)
end

--- The plugin's own folder, `editors/nvim` of the repository.
---@return string
function M.plugin_folder()
  local this = debug.getinfo(1, "S").source:sub(2)
  return vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fn.fnamemodify(this, ":p"))))
end

--- A file of ours below `stdpath(kind)`; its folder is made, for this user only.
---@param kind "data"|"state"
---@param name string
---@return string
function M.file(kind, name)
  local folder = vim.fs.joinpath(vim.fn.stdpath(kind) --[[@as string]], "azimuth")
  vim.fn.mkdir(folder, "p", tonumber("700", 8))
  return vim.fs.joinpath(folder, name)
end

--- Writes a file that only this user can read. It is never there with wider rights, not even for a moment.
---@param path string
---@param text string
---@return boolean ok
---@return string? problem
function M.write_private(path, text)
  local beside = path .. ".new"
  vim.uv.fs_unlink(beside)
  local fd, problem = vim.uv.fs_open(beside, "wx", tonumber("600", 8))
  if not fd then
    return false, problem
  end
  local written, write_problem = vim.uv.fs_write(fd, text)
  vim.uv.fs_close(fd)
  if not written then
    return false, write_problem
  end
  local renamed, rename_problem = vim.uv.fs_rename(beside, path)
  return renamed ~= nil, rename_problem
end

--- The whole text of a file, or nil.
---@param path string
---@return string?
function M.read(path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read("*a")
  file:close()
  return text
end

return M
