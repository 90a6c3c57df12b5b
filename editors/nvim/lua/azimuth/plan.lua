--- The plan of the session's task as a buffer: its lines are the steps, and writing it sets them.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")

local M = {}

local NAME = "azimuth://plan"
local marks = { pending = "[ ]", in_progress = "[>]", completed = "[x]" }
local statuses = { [" "] = "pending", [">"] = "in_progress", x = "completed", X = "completed" }

--- The steps as lines.
---@param steps azimuth.PlanEntry[]
---@return string[]
function M.lines(steps)
  return vim.tbl_map(function(step)
    return marks[step.status] .. " " .. (step.content:gsub("%c", " "))
  end, steps)
end

--- The steps that lines stand for. One without a mark is still to be done.
---@param lines string[]
---@return azimuth.PlanEntry[]
function M.steps(lines)
  local steps = {}
  for _, line in ipairs(lines) do
    local mark, content = line:match("^%s*%[([ >xX])%]%s*(.-)%s*$")
    content = content or vim.trim(line)
    if content ~= "" then
      table.insert(steps, { content = content, status = statuses[mark or " "] })
    end
  end
  return steps
end

--- The steps with the progress that the model has made meanwhile, and those that it has added.
---@param steps azimuth.PlanEntry[] As the user has them.
---@param before azimuth.PlanEntry[] As they were when the user began.
---@param now azimuth.PlanEntry[]
---@return azimuth.PlanEntry[]
function M.merged(steps, before, now)
  local was, is = {}, {}
  for _, step in ipairs(before) do
    was[step.content] = step.status
  end
  for _, step in ipairs(now) do
    is[step.content] = step.status
  end
  local merged = {}
  for _, step in ipairs(steps) do
    local is_untouched = was[step.content] == step.status
    table.insert(merged, { content = step.content, status = is_untouched and is[step.content] or step.status })
  end
  for _, step in ipairs(now) do
    if not was[step.content] then
      table.insert(merged, step)
    end
  end
  return merged
end

--- The steps of the session's plan as it is now.
---@return azimuth.PlanEntry[]?
local function current()
  local state = client.state()
  for at = state and #state.entries or 0, 1, -1 do
    local entry = state.entries[at]
    if entry and entry.kind == "plan" then
      return entry.steps
    end
  end
end

---@param bufnr integer
local function save(bufnr)
  local session_id = vim.b[bufnr].azimuth_session
  local steps = M.steps(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  steps = M.merged(steps, vim.b[bufnr].azimuth_plan or {}, current() or {})
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  client.request(protocol.requests.turn_plan, { sessionId = session_id, entries = steps }, function(err)
    if err then
      vim.notify("Azimuth: the plan was not taken: " .. err.message, vim.log.levels.ERROR)
    elseif vim.api.nvim_buf_is_valid(bufnr) then
      vim.b[bufnr].azimuth_plan = steps
      if vim.api.nvim_buf_get_changedtick(bufnr) == tick then
        vim.bo[bufnr].modified = false
      end
    end
  end)
end

--- Ticks the step at the cursor, or takes the tick away.
local function toggle()
  local line = vim.api.nvim_get_current_line()
  local mark, rest = line:match("^%s*%[([ >xX])%]%s*(.*)$")
  local done = mark == "x" or mark == "X"
  vim.api.nvim_set_current_line((done and marks.pending or marks.completed) .. " " .. (rest or vim.trim(line)))
end

--- Opens the plan, to be edited like a text.
function M.open()
  local steps, session_id = current(), client.session()
  if not steps or not session_id then
    vim.notify("Azimuth: there is no plan in this session.")
    return
  end
  local shown = vim.fn.bufwinid(NAME)
  if shown > 0 and vim.bo[vim.fn.winbufnr(shown)].modified then
    -- The text that was written there stays.
    vim.api.nvim_set_current_win(shown)
    return
  end
  local bufnr = vim.fn.bufadd(NAME)
  vim.fn.bufload(bufnr)
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden, vim.bo[bufnr].swapfile = "acwrite", "wipe", false
  vim.bo[bufnr].filetype = "azimuth-plan"
  vim.b[bufnr].azimuth_session, vim.b[bufnr].azimuth_plan = session_id, steps
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, M.lines(steps))
  vim.bo[bufnr].modified = false
  vim.keymap.set("n", "<CR>", toggle, { buffer = bufnr, desc = "Azimuth: tick the step" })
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = bufnr,
    group = vim.api.nvim_create_augroup("azimuth.plan", { clear = true }),
    callback = function()
      save(bufnr)
    end,
  })
  vim.cmd(("botright %dsplit"):format(math.min(#steps + 1, 15)))
  vim.api.nvim_win_set_buf(0, bufnr)
  vim.wo.winbar = "%#AzimuthDim# The plan: <CR> ticks a step, :w tells Azimuth, :q closes%*"
end

return M
