--- A notice when the agent asks or ends while the editor has no focus. Terminals that tell nothing of the focus never
--- lose it, so there is none in them.

local client = require("azimuth.client")
local config = require("azimuth.config")
local text = require("azimuth.text")

local M = {}

local has_focus = true

--- Sends a notice to the terminal itself.
---@param words string
local function tell_terminal(words)
  local how = config.values.notices.terminal
  -- A terminal would take a control character for the end, or for something else.
  local sequence = how == "bell" and "\a" or how == "osc9" and "\27]9;" .. words:gsub("%c", " ") .. "\27\\"
  if sequence then
    io.stdout:write(sequence)
    io.stdout:flush()
  end
end

---@param session_id string?
---@param words string
---@param level? integer
local function tell(session_id, words, level)
  if has_focus or not config.values.notices.enabled then
    return
  end
  local state = session_id and client.state(session_id)
  local title = state and state.title ~= "" and (" (%s)"):format(text.one_line(state.title, 60)) or ""
  local said = ("Azimuth%s: %s"):format(title, words)
  vim.schedule(function()
    vim.notify(said, level or vim.log.levels.INFO)
    tell_terminal(said)
  end)
end

local ends = {
  end_turn = "done.",
  max_tokens = "the answer reached its maximum length.",
  max_turn_requests = "it stopped after many rounds, and asks if it should continue.",
  refusal = "the model would not answer.",
  error = "the turn failed.",
  interrupted = "the turn was interrupted, and can be continued.",
}

client.on("permissionAsked", function(session_id, event)
  tell(session_id, text.one_line(event.request.title, 200))
end)
client.on("turnEnded", function(session_id, event)
  local words = ends[event.stopReason]
  if words then
    tell(session_id, words, event.stopReason == "error" and vim.log.levels.ERROR or nil)
  end
end)

local group = vim.api.nvim_create_augroup("azimuth.notices", { clear = true })
for event, focused in pairs({ FocusGained = true, FocusLost = false }) do
  vim.api.nvim_create_autocmd(event, {
    group = group,
    callback = function()
      has_focus = focused
    end,
  })
end

return M
