--- `:Azimuth compact` and `:Azimuth handover`: writes a handover for the earlier part of the conversation, corrects its notes
--- in a buffer of their own, and takes it back (docs/long-work.md).

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")

local M = {}

local requests = protocol.requests

--- So many milliseconds `:write` waits for the server's word.
local PATIENCE = 3000

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.WARN)
end

--- The session that is shown, and its last handover that stands.
---@return azimuth.SessionId?
---@return azimuth.Entry?
local function last()
  local session_id, state = client.session(), client.state()
  local id = state and state.handovers[#state.handovers]
  if not session_id or not state or not id then
    say("there is no handover in this conversation. :Azimuth compact writes one.")
    return nil, nil
  end
  return session_id, require("azimuth.fold.entries").find(state, "handover", id)
end

---@param request string
---@param params table
---@param done string
---@param taken? fun() The server has taken it.
local function ask(request, params, done, taken)
  client.request(request, params, function(err)
    if err then
      say(err.message, vim.log.levels.ERROR)
      return
    end
    if taken then
      taken()
    end
    say(done, vim.log.levels.INFO)
  end)
end

--- Opens the notes of the last handover; writing the buffer has the model read them as they are then.
local function correct()
  local session_id, entry = last()
  if not session_id or not entry then
    return
  end
  local id = entry.compaction.compactionId
  local name = ("azimuth://handover/%s"):format(id)
  local bufnr = vim.fn.bufnr(name)
  if bufnr < 0 then
    bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(bufnr, name)
    vim.bo[bufnr].buftype = "acwrite"
    vim.bo[bufnr].bufhidden = "wipe"
    vim.bo[bufnr].filetype = "markdown"
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(entry.text, "\n", { plain = true }))
    vim.bo[bufnr].modified = false
    vim.api.nvim_create_autocmd("BufWriteCmd", {
      buffer = bufnr,
      callback = function()
        local written = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n")
        local params = { sessionId = session_id, compactionId = id, written = written }
        local is_taken = false
        ask(requests.compaction_correct, params, "the handover is corrected: the model reads your text from now on.", function()
          is_taken = true
          if vim.api.nvim_buf_is_valid(bufnr) then
            vim.bo[bufnr].modified = false
          end
        end)
        -- `:wq` closes the buffer only once the server has the text.
        vim.wait(PATIENCE, function()
          return is_taken
        end, 20)
      end,
    })
  end
  vim.cmd.split()
  vim.api.nvim_win_set_buf(0, bufnr)
end

local function take_back()
  local session_id, entry = last()
  if session_id and entry then
    ask(
      requests.compaction_undo,
      { sessionId = session_id, compactionId = entry.compaction.compactionId },
      "the handover is taken back: the model sees the replaced messages again."
    )
  end
end

--- `:Azimuth compact [focus]`, `:Azimuth handover [undo]`.
---@param words string[]
function M.command(words)
  if words[1] == "compact" then
    require("azimuth.input").send_text(vim.trim("/compact " .. table.concat(vim.list_slice(words, 2), " ")))
  elseif words[2] == "undo" then
    take_back()
  else
    correct()
  end
end

return M
